"""Programs: from a jaxpr to an executable.

- `lowered`: how does a jaxpr become a program in StableHLO?
- `layout`: how is a program to be spread over devices?
- `donation`: which result takes the memory of which donated argument?
- `vector_width`: how wide vectors should the engine use for a program?
- `program`: how does a lowered program become an executable, and which are shared?
- `compile_result`: where is an executable from?
- `program_cache`: which programs are on the disk, and which are put there?
- `progress`: how is a long compilation shown?
- `counters`: how much has the process traced, lowered and compiled?
"""
