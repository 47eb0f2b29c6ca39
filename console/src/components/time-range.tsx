import { Button, Group, Popover, SegmentedControl } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { formatMoment } from "../client/format.ts";
import { t } from "../language/areas/components.ts";
import { loadChunk } from "../routes/load-chunk.ts";
import { useUrlChange } from "../routes/search.ts";
import { calendarRangeNames } from "./calendar-ranges.ts";
import { type RangeName, useTimeRange } from "./use-time-range.ts";

// Most visits never open it, and its fields are large.
const RangeMenu = lazy(() => loadChunk(async () => ({ default: (await import("./range-menu.tsx")).RangeMenu })));

const words: Readonly<Record<RangeName, string>> = {
  "1h": t("components.range.hours", { count: 1 }),
  "6h": t("components.range.hours", { count: 6 }),
  "24h": t("components.range.hours", { count: 24 }),
  "7d": t("components.range.days", { count: 7 }),
  "30d": t("components.range.days", { count: 30 }),
  "90d": t("components.range.days", { count: 90 }),
  today: t("components.range.today"),
  yesterday: t("components.range.yesterday"),
  this_week: t("components.range.thisWeek"),
  last_week: t("components.range.lastWeek"),
  this_month: t("components.range.thisMonth"),
  last_month: t("components.range.lastMonth"),
};
const lengths: readonly RangeName[] = ["1h", "6h", "24h", "7d", "30d", "90d"];

interface TimeRangeProps {
  readonly fallback?: RangeName;
  /** Shown as buttons; the others are in the menu. */
  readonly shown?: readonly RangeName[];
}

/**
 * Chooses the time range of a page, held in the URL (`range`, or `from` and `to`, and `tz` for days of UTC). Read it with
 * `useTimeRange`.
 */
export function TimeRange({ fallback = "24h", shown = lengths }: TimeRangeProps) {
  const range = useTimeRange(fallback);
  const change = useUrlChange();
  const [opened, setOpened] = useState(false);
  const choose = (name: string) => {
    change({ range: name in words ? name : "", from: "", to: "" });
    setOpened(false);
  };
  const isShown = range.name !== null && shown.includes(range.name);
  const others = [...calendarRangeNames, ...lengths].filter((name) => !shown.includes(name));
  return (
    <Group gap={4} wrap="wrap" className="time-range">
      <SegmentedControl
        aria-label={t("components.range.label")}
        data={shown.map((value) => ({ value, label: words[value] }))}
        value={isShown ? (range.name ?? "") : ""}
        onChange={choose}
      />
      <Popover opened={opened} onChange={setOpened} trapFocus position="bottom-end" shadow="md">
        <Popover.Target>
          <Button variant={isShown ? "default" : "light"} onClick={() => setOpened((before) => !before)}>
            {range.name === null
              ? t("components.range.between", { from: formatMoment(range.from), to: formatMoment(range.to) })
              : isShown
                ? t("components.range.more")
                : words[range.name]}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Suspense>
            {opened && (
              <RangeMenu
                range={range}
                others={others}
                words={words}
                onChoose={choose}
                onClose={() => setOpened(false)}
              />
            )}
          </Suspense>
        </Popover.Dropdown>
      </Popover>
    </Group>
  );
}
