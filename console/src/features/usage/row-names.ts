import type { UsageDimension } from "@sluice/contract";
import { modelLabel } from "../../components/model-label.ts";
import { t } from "../../language/areas/usage.ts";

/** The name of a row or a line. Its id is `-` for calls without a value, and empty for the rest of a chart. */
export function rowName({ id, label }: { readonly id: string; readonly label: string }, by: UsageDimension): string {
  if (id === "") return by === "none" ? label : t("usage.others");
  if (id !== "-") return by === "model" ? modelLabel(label) : label;
  if (by === "person") return t("usage.noPerson");
  if (by === "provider") return t("usage.refused");
  return by === "tag" ? t("usage.tag.without") : t("usage.noClient");
}
