"""Files: one module a format."""

from structlearn.io.aligned import AlignedRows, read_aligned_pairs, read_alignment, write_aligned_pair
from structlearn.io.arff import ArffTable, Attribute, read_arff
from structlearn.io.arff_sets import ArffSets
from structlearn.io.beside import beside
from structlearn.io.brackets import Brackets
from structlearn.io.columns import Columns
from structlearn.io.conll2012 import Conll2012
from structlearn.io.conllu import ConllU
from structlearn.io.crfsuite import CrfSuite
from structlearn.io.format import Example, Format, Reader
from structlearn.io.formats import FORMATS, format_of, read_examples, recognise
from structlearn.io.image_arrays import ImageArrays
from structlearn.io.image_files import ImageFiles
from structlearn.io.jsonl import JsonLines
from structlearn.io.label_files import read_costs, read_parents
from structlearn.io.labelled_fasta import LabelledFasta
from structlearn.io.letor import Letor
from structlearn.io.mulan import MultiLabelTable, read_label_names, read_mulan
from structlearn.io.multilabel import MultiLabelRows
from structlearn.io.node_link import NamedNetwork, NodeLink
from structlearn.io.pairs import NamedSequence, Pairs
from structlearn.io.svmhmm import SvmHmm
from structlearn.io.svmlight import SvmLight
from structlearn.io.tagged import Tagged
from structlearn.io.text import EncodingError, FormatError, Lines, open_text
from structlearn.io.uai import read_evidence, read_uai, write_uai
from structlearn.io.word_alignments import WordAlignments

__all__ = [
    "FORMATS",
    "AlignedRows",
    "ArffSets",
    "ArffTable",
    "Attribute",
    "Brackets",
    "Columns",
    "Conll2012",
    "ConllU",
    "CrfSuite",
    "EncodingError",
    "Example",
    "Format",
    "FormatError",
    "ImageArrays",
    "ImageFiles",
    "JsonLines",
    "LabelledFasta",
    "Letor",
    "Lines",
    "MultiLabelRows",
    "MultiLabelTable",
    "NamedNetwork",
    "NamedSequence",
    "NodeLink",
    "Pairs",
    "Reader",
    "SvmHmm",
    "SvmLight",
    "Tagged",
    "WordAlignments",
    "beside",
    "format_of",
    "open_text",
    "read_aligned_pairs",
    "read_alignment",
    "read_arff",
    "read_costs",
    "read_evidence",
    "read_examples",
    "read_label_names",
    "read_mulan",
    "read_parents",
    "read_uai",
    "recognise",
    "write_aligned_pair",
    "write_uai",
]
