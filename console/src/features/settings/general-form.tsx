import { Button, Group, NumberInput, Select, SimpleGrid, Stack, Switch, Text } from "@mantine/core";
import type { ConsoleSettings } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmDialog } from "../../components/confirm-button.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { SettingLabel } from "./setting-label.tsx";
import {
  blockedBy,
  captureDaysMax,
  changeOf,
  daysMax,
  draftOf,
  drainSecondsMax,
  type SettingsDraft,
  settingNames,
  shortened,
} from "./settings-draft.ts";

/** Every setting with a sentence about what it does. What the config file sets is locked. */
export function GeneralForm({ answer }: { readonly answer: ConsoleSettings }) {
  const before = draftOf(answer.settings);
  // Only what was touched is kept here, so that what somebody else changes meanwhile shows up.
  const [touched, setTouched] = useState<Partial<SettingsDraft>>({});
  const [asking, setAsking] = useState(false);
  const draft = { ...before, ...touched };
  const save = useAct("settings.update", {
    inline: true,
    invalidates: ["settings.show", "settings.config"],
    done: "Settings saved.",
    onDone: () => setTouched({}),
  });
  const change = (changes: Partial<SettingsDraft>) => setTouched((earlier) => ({ ...earlier, ...changes }));
  const body = changeOf(before, draft);
  const changed = Object.keys(touched).some((name) => {
    const field = name as keyof SettingsDraft;
    return draft[field] !== before[field];
  });
  const blocked = blockedBy(draft);
  const removed = shortened(before, draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!changed || blocked !== null) return;
    if (removed.length > 0) setAsking(true);
    else save.mutate({ body });
  };
  const field = (name: keyof SettingsDraft, label: string) => {
    const locked = answer.managed_by_file.includes(settingNames[name]);
    // Read-only rather than disabled: what is in force stays legible.
    const look = locked ? ({ variant: "filled", readOnly: true } as const) : {};
    return { label: <SettingLabel label={label} locked={locked} />, ...look };
  };
  const switchField = (name: keyof SettingsDraft, label: string) => {
    const locked = answer.managed_by_file.includes(settingNames[name]);
    return { label: <SettingLabel label={label} locked={locked} />, disabled: locked };
  };
  const days = (name: "ledgerDays" | "explanationDays" | "captureDays", max: number) => ({
    suffix: " days",
    min: 1,
    max,
    allowDecimal: false,
    allowNegative: false,
    value: draft[name] ?? "",
    onChange: (value: string | number) => change({ [name]: typeof value === "number" ? value : null }),
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="lg">
        <Section title="What is kept" description="How surely calls are remembered, and for how long.">
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
            <Select
              {...field("durability", "Ledger entries survive")}
              description="Written before and after each call. Stronger costs a little time. Takes effect when the gateway starts again."
              data={durabilities}
              value={draft.durability}
              onChange={(value) => {
                const chosen = durabilities.find((each) => each.value === value);
                if (chosen !== undefined) change({ durability: chosen.value });
              }}
              allowDeselect={false}
            />
            <NumberInput
              {...field("ledgerDays", "Keep ledger entries")}
              description="Who called what, when, and what it cost. Older entries are removed; the sums per hour stay."
              {...days("ledgerDays", daysMax)}
            />
            <NumberInput
              {...field("explanationDays", "Keep explanations")}
              description="Why a request went as it did. Never longer than its ledger entry."
              {...days("explanationDays", daysMax)}
            />
            <NumberInput
              {...field("captureDays", "Keep captures")}
              description="Headers and bodies, of keys that say so. They may hold what is private: keep them short."
              {...days("captureDays", captureDaysMax)}
            />
          </SimpleGrid>
          <Text fz="xs" c="dimmed" mt="md">
            Bodies of requests are never stored unless a key says so, under “Capture” of that key.
          </Text>
        </Section>
        <Section title="How calls behave">
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
            <Select
              {...field("disconnect", "When a caller goes away")}
              description="For providers that do not say themselves."
              data={disconnects}
              value={draft.disconnect}
              onChange={(value) => {
                const chosen = disconnects.find((each) => each.value === value);
                if (chosen !== undefined) change({ disconnect: chosen.value });
              }}
              allowDeselect={false}
            />
            <NumberInput
              {...field("drainSeconds", "Wait for live streams at the end")}
              description="When the gateway is told to stop, streams may finish for this long."
              suffix=" s"
              min={0.001}
              max={drainSecondsMax}
              allowNegative={false}
              value={draft.drainSeconds ?? ""}
              onChange={(value) => change({ drainSeconds: typeof value === "number" ? value : null })}
            />
            <Switch
              {...switchField("retrySent", "Send again what was not answered")}
              description="After a time-out or a cut the next deployment is asked, although both may be charged. Off: only what was refused, or never sent, is asked elsewhere."
              checked={draft.retrySent}
              onChange={(event) => change({ retrySent: event.currentTarget.checked })}
            />
            <Switch
              {...switchField("copyResults", "Copy finished videos")}
              description="A vendor's link ends after hours or days. A copy in our own store stays, and takes room there."
              checked={draft.copyResults}
              onChange={(event) => change({ copyResults: event.currentTarget.checked })}
            />
          </SimpleGrid>
        </Section>
        {save.error !== null && <ProblemAlert problem={save.error} />}
        <Group justify="flex-end" gap="xs">
          {changed && blocked !== null && (
            <Text fz="xs" c="red" role="status">
              {blocked}
            </Text>
          )}
          {changed && (
            <Button
              variant="default"
              onClick={() => {
                setTouched({});
                save.reset();
              }}
            >
              Discard
            </Button>
          )}
          <Button type="submit" disabled={!changed || blocked !== null} loading={save.isPending}>
            Save settings
          </Button>
        </Group>
      </Stack>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title="Keep less?"
        verb="Save and remove"
        onConfirm={() => save.mutateAsync({ body })}
      >
        Older {removed.join(", ")} are removed soon after. This cannot be taken back.
      </ConfirmDialog>
    </form>
  );
}

const durabilities = [
  { value: "process", label: "the end of the process" },
  { value: "disk", label: "a crash of the machine (within 50 ms)" },
  { value: "strict", label: "anything, before the call is sent" },
] as const;

const disconnects = [
  { value: "cancel", label: "Stop the upstream: pay for less" },
  { value: "drain", label: "Let the upstream finish" },
] as const;
