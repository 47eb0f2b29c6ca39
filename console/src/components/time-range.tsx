import { Button, Group, Popover, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { formatMoment } from "../client/format.ts";
import { t } from "../language/areas/components.ts";
import { useUrlChange } from "../routes/search.ts";
import { type RangeName, rangeLengths, useTimeRange } from "./use-time-range.ts";

const words: readonly { readonly value: RangeName; readonly label: string }[] = [
  { value: "1h", label: t("components.range.hours", { count: 1 }) },
  { value: "6h", label: t("components.range.hours", { count: 6 }) },
  { value: "24h", label: t("components.range.hours", { count: 24 }) },
  { value: "7d", label: t("components.range.days", { count: 7 }) },
  { value: "30d", label: t("components.range.days", { count: 30 }) },
  { value: "90d", label: t("components.range.days", { count: 90 }) },
];

/** Chooses the time range of a page, held in the URL (`range`, or `from` and `to`). Read it with `useTimeRange`. */
export function TimeRange({ fallback = "24h" }: { readonly fallback?: RangeName }) {
  const range = useTimeRange(fallback);
  const change = useUrlChange();
  const [opened, setOpened] = useState(false);
  return (
    <Group gap={4} wrap="wrap" className="time-range">
      <SegmentedControl
        aria-label={t("components.range.label")}
        data={[...words]}
        value={range.name ?? ""}
        onChange={(name) => change({ range: name in rangeLengths ? name : "", from: "", to: "" })}
      />
      <Popover opened={opened} onChange={setOpened} trapFocus position="bottom-end" shadow="md">
        <Popover.Target>
          <Button variant={range.name === null ? "light" : "default"} onClick={() => setOpened((before) => !before)}>
            {range.name === null
              ? t("components.range.between", { from: formatMoment(range.from), to: formatMoment(range.to) })
              : t("components.range.custom")}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <CustomRange
            from={range.from}
            to={range.to}
            onChoose={(from, to) => {
              change({ range: "", from: String(from), to: String(to) });
              setOpened(false);
            }}
          />
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
