import { Group, NumberInput, Select, Switch, TextInput } from "@mantine/core";
import type { AlertRule } from "@sluice/contract";
import { wrongField } from "../../components/form-drawer.tsx";
import { TimeZoneSelect } from "../../components/time-zone-select.tsx";
import { t } from "../../language/areas/alerts.ts";
import { ChannelsField } from "./channels-field.tsx";
import { mutes, type RuleFieldsProps } from "./rule-draft.ts";

const muteWords = {
  keep: t("alerts.form.muteKeep"),
  none: t("alerts.form.muteNone"),
  hour: t("alerts.form.muteHour"),
  day: t("alerts.form.muteDay"),
  week: t("alerts.form.muteWeek"),
} as const;

/** The channels and times of a rule's messages. `rule` null: a new one. */
export function SendFields({ rule, draft, onChange, problem }: RuleFieldsProps & { readonly rule: AlertRule | null }) {
  return (
    <>
      <ChannelsField
        value={draft.channels}
        onChange={(channels) => onChange({ channels })}
        offers={({ workspace }) => (workspace?.slug ?? null) === draft.workspace}
        help={t("alerts.form.channelsHelp")}
        none={t("alerts.form.noChannels")}
        error={wrongField(problem, "channels")}
      />
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
          <TimeZoneSelect
            label={t("alerts.form.zone")}
            value={draft.timeZone}
            onChange={(timeZone) => onChange({ timeZone })}
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
