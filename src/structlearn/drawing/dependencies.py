def draw_dependencies(*a, **k):
    return None
