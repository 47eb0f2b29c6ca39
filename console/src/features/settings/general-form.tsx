import { Button, Group, NumberInput, Select, SimpleGrid, Stack, Switch, Text } from "@mantine/core";
import type { ConsoleSettings } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmDialog } from "../../components/confirm-button.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/settings.ts";
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
    done: t("settings.settingsSaved"),
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
        <Section title={t("settings.whatIsKept")} description={t("settings.howSurelyCallsAreRemembered")}>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
            <Select
              {...field("durability", t("settings.ledgerEntriesSurvive"))}
              description={t("settings.writtenBeforeAndAfterEach")}
              data={durabilities}
              value={draft.durability}
              onChange={(value) => {
                const chosen = durabilities.find((each) => each.value === value);
                if (chosen !== undefined) change({ durability: chosen.value });
              }}
              allowDeselect={false}
            />
            <NumberInput
              {...field("ledgerDays", t("settings.keepLedgerEntries"))}
              description={t("settings.whoCalledWhatWhenAnd")}
              {...days("ledgerDays", daysMax)}
            />
            <NumberInput
              {...field("explanationDays", t("settings.keepExplanations"))}
              description={t("settings.whyARequestWentAs")}
              {...days("explanationDays", daysMax)}
            />
            <NumberInput
              {...field("captureDays", t("settings.keepCaptures"))}
              description={t("settings.headersAndBodiesOfKeys")}
              {...days("captureDays", captureDaysMax)}
            />
          </SimpleGrid>
          <Text fz="xs" c="dimmed" mt="md">
            {t("settings.bodiesOfRequestsAreNever")}
          </Text>
        </Section>
        <Section title={t("settings.howCallsBehave")}>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
            <Select
              {...field("disconnect", t("settings.whenACallerGoesAway"))}
              description={t("settings.forProvidersThatDoNot")}
              data={disconnects}
              value={draft.disconnect}
              onChange={(value) => {
                const chosen = disconnects.find((each) => each.value === value);
                if (chosen !== undefined) change({ disconnect: chosen.value });
              }}
              allowDeselect={false}
            />
            <NumberInput
              {...field("drainSeconds", t("settings.waitForLiveStreamsAt"))}
              description={t("settings.whenTheGatewayIsTold")}
              suffix={t("settings.s")}
              min={0.001}
              max={drainSecondsMax}
              allowNegative={false}
              value={draft.drainSeconds ?? ""}
              onChange={(value) => change({ drainSeconds: typeof value === "number" ? value : null })}
            />
            <Switch
              {...switchField("retrySent", t("settings.sendAgainWhatWasNot"))}
              description={t("settings.afterATimeOutOr")}
              checked={draft.retrySent}
              onChange={(event) => change({ retrySent: event.currentTarget.checked })}
            />
            <Switch
              {...switchField("copyResults", t("settings.copyFinishedVideos"))}
              description={t("settings.aVendorsLinkEndsAfter")}
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
              {t("settings.discard")}
            </Button>
          )}
          <Button type="submit" disabled={!changed || blocked !== null} loading={save.isPending}>
            {t("settings.saveSettings")}
          </Button>
        </Group>
      </Stack>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={t("settings.keepLess")}
        verb={t("settings.saveAndRemove")}
        onConfirm={() => save.mutateAsync({ body })}
      >
        Older {removed.join(", ")} are removed soon after. This cannot be taken back.
      </ConfirmDialog>
    </form>
  );
}

const durabilities = [
  { value: "process", label: t("settings.theEndOfTheProcess") },
  { value: "disk", label: t("settings.aCrashOfTheMachine") },
  { value: "strict", label: t("settings.anythingBeforeTheCallIs") },
] as const;

const disconnects = [
  { value: "cancel", label: t("settings.stopTheUpstreamPayFor") },
  { value: "drain", label: t("settings.letTheUpstreamFinish") },
] as const;
