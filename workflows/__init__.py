"""From a recipe to a finished run: plan, graph, supervisor, watcher, models."""
