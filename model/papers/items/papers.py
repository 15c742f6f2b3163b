"""The five papers by name."""

from .cang_wu import CANG_WU_3D, CANG_WU_1998
from .ho_hsu_sung import HO_HSU_SUNG
from .item import Paper
from .jiang_wu import JIANG_WU
from .johnsson_ho import JOHNSSON_HO

PAPERS: dict[str, Paper] = {
    "cang-wu-1998": CANG_WU_1998,
    "cang-wu-3d": CANG_WU_3D,
    "jiang-wu": JIANG_WU,
    "ho-hsu-sung-1996": HO_HSU_SUNG,
    "johnsson-ho-1986": JOHNSSON_HO,
}
