"""``eyecast schedule``: a schedule, proved and measured against its lower bounds."""

from ..model.collectives.notes import schedule_title, upper_bounds
from ..model.collectives.shown_bounds import least_counts, word_measures
from ..model.compare.cycles import schedule_cycles
from ..model.network.network_text import SizeLimit
from ..model.schedule.file import write_schedule
from .command import command
from .console import busy, print_json, print_table, say, say_bound, say_written, sharing
from .options.collective import collective_options, schedule_facts
from .options.hardware import circuits_option
from .options.network import network_options
from .options.output import json_option, output_option, require_no_picture, require_output_files
from .options.schedule_file import ScheduleOptions, schedule_options


@command(
    "schedule",
    "eyecast schedule --mesh 8x8 --source 0,0 -o corner.json",
    "eyecast schedule --hypercube 4 --source 0,0,0,0 --algorithm nesbt --ports half-duplex",
)
@schedule_options(network_options, collective_options, circuits_option)
@output_option("the schedule (JSON)")
@json_option
def schedule_command(wanted: ScheduleOptions, output: str | None, as_json: bool) -> None:
    """Make and prove a schedule; print steps and distances beside their lower bounds."""
    require_no_picture(output)
    require_output_files(output)
    with busy("generating and checking"):
        found = wanted.answer(SizeLimit.SCHEDULE)
    schedule = found.schedule
    most = upper_bounds(schedule)
    cycles = schedule_cycles(schedule, circuits=wanted.room.circuits)
    least = {**least_counts(schedule), "cycles": cycles.bound.value}
    measures = {
        "steps": schedule.steps,
        "tcd": schedule.tcd,
        "sends": schedule.sends,
        "links_used": schedule.links_used,
        "largest_link_load": schedule.largest_link_load,
        **word_measures(schedule),
        "cycles": cycles.value,
    }
    if output is not None:
        write_schedule(schedule, output)
    if as_json:
        shared = {
            "cycles_estimated": cycles.estimated,
            "pairs_sharing_links": schedule.pairs_sharing_links,
        }
        bounds = {"least": least, **({"most": most} if most else {})}
        facts = {**schedule_facts(found), **measures, **shared, "unserved": schedule.unserved}
        print_json({**facts, **bounds}, **wanted.facts(schedule.topology))
        return
    names = {
        "tcd": "TCD, in links",
        "largest_link_load": "most sends on a link in a step",
        "word_hops": "words times links",
        "node_words": "words sent or received by a node",
        "link_words": "words on a link",
        "cycles": "cycles, estimated" if cycles.estimated else "cycles",
    }
    print_table(
        schedule_title(schedule),
        ("", "schedule", "lower bound", *(("paper: at most",) if most else ())),
        [
            (
                names.get(name, name.replace("_", " ")),
                value,
                least.get(name),
                *((most.get(name),) if most else ()),
            )
            for name, value in measures.items()
        ],
    )
    say(sharing(schedule))
    say_bound(cycles.bound, cycles.value, estimated=cycles.estimated)
    say_written(output)
