import { Checkbox, Group, NumberInput, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import type { AlertRule } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/alerts.ts";
import { mutes, type RuleFieldsProps } from "./rule-draft.ts";

const muteWords = {
  keep: t("alerts.form.muteKeep"),
  none: t("alerts.form.muteNone"),
  hour: t("alerts.form.muteHour"),
  day: t("alerts.form.muteDay"),
  week: t("alerts.form.muteWeek"),
} as const;

/** Channels of one rule. */
const channelsMax = 10;

/** The channels and times of a rule's messages. `rule` null: a new one. */
export function SendFields({ rule, draft, onChange, problem }: RuleFieldsProps & { readonly rule: AlertRule | null }) {
  const channels = useCall("alertChannels.list");
  const own = (channels.data?.data ?? []).filter((each) => (each.workspace?.slug ?? null) === draft.workspace);
  return (
    <>
      <Checkbox.Group
        label={t("alerts.form.channels")}
        description={t("alerts.form.channelsHelp")}
        value={[...draft.channels]}
        onChange={(next) => onChange({ channels: next.slice(0, channelsMax) })}
        error={wrongField(problem, "channels")}
      >
        <Stack gap={6} mt={6}>
          {own.map(({ id, name }) => (
            <Checkbox key={id} value={id} label={name} />
          ))}
        </Stack>
      </Checkbox.Group>
      {channels.data !== undefined && own.length === 0 && (
        <Text size="xs" c="dimmed" component="p" m={0}>
          {t("alerts.form.noChannels")}
        </Text>
      )}
      <Switch
        label={t("alerts.form.quiet")}
        description={t("alerts.form.quietHelp")}
        checked={draft.quiet}
        onChange={(event) => onChange({ quiet: event.currentTarget.checked })}
      />
      {draft.quiet && (
        <Group grow align="flex-start">
          <TextInput
            type="time"
            label={t("alerts.form.from")}
            value={draft.from}
            onChange={(event) => onChange({ from: event.currentTarget.value })}
          />
          <TextInput
            type="time"
            label={t("alerts.form.to")}
            value={draft.to}
            onChange={(event) => onChange({ to: event.currentTarget.value })}
          />
          <Select
            label={t("alerts.form.zone")}
            data={zonesWith(draft.timeZone)}
            value={draft.timeZone}
            onChange={(zone) => onChange({ timeZone: zone ?? draft.timeZone })}
            allowDeselect={false}
            searchable
            limit={50}
          />
        </Group>
      )}
      <NumberInput
        label={t("alerts.form.repeat")}
        placeholder={t("alerts.form.repeatPlaceholder")}
        min={1}
        max={720}
        allowDecimal={false}
        allowNegative={false}
        value={draft.repeatHours ?? ""}
        onChange={(value) => onChange({ repeatHours: typeof value === "number" && value > 0 ? value : null })}
      />
      <Switch
        label={t("alerts.form.sendResolved")}
        checked={draft.sendResolved}
        onChange={(event) => onChange({ sendResolved: event.currentTarget.checked })}
      />
      {rule !== null && (
        <Select
          label={t("alerts.form.mute")}
          data={mutes.map((value) => ({ value, label: muteWords[value] }))}
          value={draft.mute}
          onChange={(value) => onChange({ mute: mutes.find((each) => each === value) ?? "keep" })}
          allowDeselect={false}
        />
      )}
    </>
  );
}

function zonesWith(zone: string): readonly string[] {
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  return zones.includes(zone) ? zones : [zone, ...zones];
}
