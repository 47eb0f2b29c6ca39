import { Alert } from "@mantine/core";
import { IconCalendarOff } from "@tabler/icons-react";
import { formatDay } from "../../../client/format.ts";
import { t } from "../../../language/areas/models.ts";
import type { ModelRow } from "./model-filter.ts";

/** How many days before its retirement a model is listed. */
const noticeMs = 60 * 86_400_000;
const namedMax = 5;

/** Models that their vendors will retire soon or have retired. */
export function Retiring({ models }: { readonly models: readonly ModelRow[] }) {
  const soon = Date.now() + noticeMs;
  const going = models.flatMap(({ name, retires_at: at }) => (at !== null && at <= soon ? [{ name, at }] : []));
  if (going.length === 0) return null;
  const named = going
    .toSorted((one, other) => one.at - other.at)
    .slice(0, namedMax)
    .map(({ name, at }) => t("models.retiring.each", { name, day: formatDay(at) }));
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconCalendarOff size={18} />}
      title={t("models.retiring.title", { count: going.length })}
    >
      {[
        ...named,
        ...(going.length > namedMax ? [t("models.retiring.more", { count: going.length - namedMax })] : []),
      ].join(" · ")}
    </Alert>
  );
}
