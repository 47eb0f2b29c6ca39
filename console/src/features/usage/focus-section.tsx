import { Button, Group, Text, TextInput } from "@mantine/core";
import { focusDelayMs, focusPath } from "@sluice/contract";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/usage.ts";
import { useWorkspace } from "../../session/workspace.ts";

const dayMs = 86_400_000;
const daysMax = 400;

/** Costs of closed days for finance: of a workspace for its admins, or of all for administrators. */
export function FocusSection() {
  const { path, all, may } = useWorkspace();
  const [last] = useState(() => Math.floor((Date.now() - focusDelayMs) / dayMs) * dayMs - dayMs);
  const month = lastMonth(last);
  const [from, setFrom] = useState(dateOf(month.from));
  const [to, setTo] = useState(dateOf(month.to));
  if (!may(all ? "administrator" : "admin")) return null;
  const [first, end] = [Date.parse(from), Date.parse(to) + dayMs];
  const isGood = first < end && end <= last + dayMs && end - first <= daysMax * dayMs;
  const query = { from, ...(isGood ? { to: dateOf(end) } : {}), ...(all ? {} : { workspace: path }) };
  return (
    <Section title={t("usage.focus.title")} description={t("usage.focus.help")}>
      <Group gap="xs" align="flex-end">
        <TextInput
          type="date"
          label={t("usage.focus.from")}
          max={dateOf(last)}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label={t("usage.focus.to")}
          max={dateOf(last)}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button
          variant="default"
          component="a"
          href={`${focusPath}?${new URLSearchParams(query)}`}
          download
          leftSection={<IconDownload size={15} />}
          disabled={!isGood}
        >
          {t("usage.focus.download")}
        </Button>
      </Group>
      {!isGood && (
        <Text size="sm" c="red" role="alert" pt="sm">
          {t("usage.focus.wrong", { last: dateOf(last) })}
        </Text>
      )}
    </Section>
  );
}

function dateOf(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}

/** The month before the last closed day's, or that month if it is complete. */
function lastMonth(last: number): { readonly from: number; readonly to: number } {
  const after = new Date(last + dayMs);
  const to = Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), 1) - dayMs;
  const end = new Date(to);
  return { from: Date.UTC(end.getUTCFullYear(), end.getUTCMonth(), 1), to };
}
