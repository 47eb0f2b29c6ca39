import { Button, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { t } from "../language/areas/components.ts";
import { useUrlChange } from "../routes/search.ts";
import { localZone, type RangeName, type TimeSpan } from "./use-time-range.ts";

interface RangeMenuProps {
  readonly range: TimeSpan;
  readonly others: readonly RangeName[];
  readonly words: Readonly<Record<RangeName, string>>;
  readonly onChoose: (name: RangeName) => void;
  readonly onClose: () => void;
}

/** Further ranges, a range between two moments, and the time zone of days. */
export function RangeMenu({ range, others, words, onChoose, onClose }: RangeMenuProps) {
  const change = useUrlChange();
  return (
    <Stack gap="sm">
      <SimpleGrid cols={2} spacing={4} verticalSpacing={4}>
        {others.map((name) => (
          <Button
            key={name}
            size="compact-sm"
            variant={range.name === name ? "light" : "subtle"}
            onClick={() => onChoose(name)}
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
          onClose();
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
