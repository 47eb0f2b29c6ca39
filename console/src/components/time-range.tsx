import { Button, Group, Popover, SegmentedControl, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { formatMoment } from "../client/format.ts";
import { t } from "../language/areas/components.ts";
import { useUrlChange } from "../routes/search.ts";
import { calendarRangeNames } from "./calendar-ranges.ts";
import { localZone, type RangeName, useTimeRange } from "./use-time-range.ts";

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
          <Stack gap="sm">
            <SimpleGrid cols={2} spacing={4} verticalSpacing={4}>
              {others.map((name) => (
                <Button
                  key={name}
                  size="compact-sm"
                  variant={range.name === name ? "light" : "subtle"}
                  onClick={() => choose(name)}
                >
                  {words[name]}
                </Button>
              ))}
            </SimpleGrid>
            <CustomRange
              from={range.from}
              to={range.to}
              onChoose={(from, to) => {
                change({ range: "", from: String(from), to: String(to) });
                setOpened(false);
              }}
            />
            <Select
              label={t("components.range.zone")}
              description={t("components.range.zoneHelp")}
              data={[
                { value: "local", label: localZone },
                { value: "utc", label: "UTC" },
              ]}
              value={range.utc ? "utc" : "local"}
              onChange={(value) => change({ tz: value === "utc" ? "utc" : "" })}
              allowDeselect={false}
              comboboxProps={{ withinPortal: false }}
            />
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </Group>
  );
}

interface CustomRangeProps {
  readonly from: number;
  readonly to: number;
  readonly onChoose: (from: number, to: number) => void;
}

function CustomRange({ from, to, onChoose }: CustomRangeProps) {
  const [start, setStart] = useState(() => inputText(from));
  const [end, setEnd] = useState(() => inputText(to));
  const chosen = { from: new Date(start).getTime(), to: new Date(end).getTime() };
  const good = chosen.from < chosen.to;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (good) onChoose(chosen.from, chosen.to);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <TextInput
          type="datetime-local"
          max={lastMoment}
          label={t("components.labels.from")}
          value={start}
          onChange={(event) => setStart(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          max={lastMoment}
          label={t("components.labels.to")}
          value={end}
          onChange={(event) => setEnd(event.currentTarget.value)}
        />
        {!good && (
          <Text size="xs" c="red" role="alert">
            {t("components.range.wrong")}
          </Text>
        )}
        <Button type="submit" disabled={!good}>
          {t("components.actions.show")}
        </Button>
      </Stack>
    </form>
  );
}

/** Four-digit years: without a maximum, browsers ask for six digits. */
const lastMoment = "9999-12-31T23:59";

/** Value of a date and time input: local time, to the minute. */
function inputText(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
