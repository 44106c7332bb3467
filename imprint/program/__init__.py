"""Programs: from a jaxpr to an executable.

- `program`: how does a jaxpr become an executable, and which are shared?
- `progress`: how is a long compilation shown?
- `counters`: how much has the process traced, lowered and compiled?
"""
