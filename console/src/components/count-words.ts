import type { Rows } from "../api/use-pages.ts";
import { t } from "../language/areas/components.ts";

/** "1–50 of 12,340", or how many there are if all are shown. */
export function countWords(shown: number, { rows, total, moreThanTotal = false, more }: Rows<unknown>): string {
  const loaded = rows?.length ?? 0;
  if (total === null && more !== null) return t("components.table.shownOfMore", { shown });
  const all = Math.max(total ?? loaded, loaded);
  if (moreThanTotal) return t("components.table.shownOfOver", { shown, all });
  return shown < all ? t("components.table.shownOf", { shown, all }) : t("components.table.total", { all });
}
