import { NumberInput, Select, SimpleGrid, Switch, Text, TextInput } from "@mantine/core";
import { NumberField } from "../../components/number-field.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/settings.ts";
import { SettingLabel } from "./setting-label.tsx";
import {
  auditDaysMin,
  captureDaysMax,
  daysMax,
  drainSecondsMax,
  type RetentionName,
  type SettingsDraft,
  staleKeySecondsMax,
  staleKeySecondsMin,
} from "./settings-draft.ts";

export interface FieldsProps {
  readonly draft: SettingsDraft;
  /** The config file sets it. */
  readonly isLocked: (name: keyof SettingsDraft) => boolean;
  readonly fault: (name: keyof SettingsDraft) => string | null;
  readonly change: (changes: Partial<SettingsDraft>) => void;
}

/** How durably requests are recorded, and for how long. */
export function RetentionFields(props: FieldsProps) {
  const { draft, change } = props;
  return (
    <Section title={t("settings.general.retention")} description={t("settings.general.retentionHelp")}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
        <Select
          {...lookOf(props, "durability", t("settings.general.durability"))}
          description={t("settings.general.durabilityHelp")}
          data={durabilities}
          value={draft.durability}
          onChange={(value) => {
            const chosen = durabilities.find((each) => each.value === value);
            if (chosen !== undefined) change({ durability: chosen.value });
          }}
          allowDeselect={false}
        />
        <NumberInput
          {...lookOf(props, "ledgerDays", t("settings.general.ledgerDays"))}
          description={t("settings.general.ledgerDaysHelp")}
          {...daysOf(props, "ledgerDays", daysMax)}
        />
        <NumberInput
          {...lookOf(props, "explanationDays", t("settings.general.explanationDays"))}
          description={t("settings.general.explanationDaysHelp")}
          {...daysOf(props, "explanationDays", daysMax)}
        />
        <NumberInput
          {...lookOf(props, "captureDays", t("settings.general.captureDays"))}
          description={t("settings.general.captureDaysHelp")}
          {...daysOf(props, "captureDays", captureDaysMax)}
        />
        <NumberInput
          {...lookOf(props, "auditDays", t("settings.general.auditDays"))}
          description={t("settings.general.auditDaysHelp")}
          {...daysOf(props, "auditDays", daysMax)}
          min={auditDaysMin}
        />
      </SimpleGrid>
      <Text fz="xs" c="dimmed" mt="md">
        {t("settings.general.captureNote")}
      </Text>
    </Section>
  );
}

/** What happens to requests when something breaks, and to what they made. */
export function RequestFields(props: FieldsProps) {
  const { draft, change } = props;
  return (
    <Section title={t("settings.general.requests")}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
        <Select
          {...lookOf(props, "disconnect", t("settings.general.disconnect"))}
          description={t("settings.general.disconnectHelp")}
          data={disconnects}
          value={draft.disconnect}
          onChange={(value) => {
            const chosen = disconnects.find((each) => each.value === value);
            if (chosen !== undefined) change({ disconnect: chosen.value });
          }}
          allowDeselect={false}
        />
        <NumberField
          {...lookOf(props, "drainSeconds", t("settings.general.drain"))}
          description={t("settings.general.drainHelp")}
          suffix={` ${t("settings.general.seconds")}`}
          min={0.001}
          max={drainSecondsMax}
          allowNegative={false}
          value={draft.drainSeconds}
          onChange={(drainSeconds) => change({ drainSeconds })}
        />
        <NumberField
          {...lookOf(props, "staleKeySeconds", t("settings.general.staleKeys"))}
          description={t("settings.general.staleKeysHelp")}
          suffix={` ${t("settings.general.seconds")}`}
          min={staleKeySecondsMin}
          max={staleKeySecondsMax}
          allowNegative={false}
          allowDecimal={false}
          value={draft.staleKeySeconds}
          onChange={(staleKeySeconds) => change({ staleKeySeconds })}
        />
        <Switch
          {...switchLookOf(props, "retrySent", t("settings.general.retrySent"))}
          description={t("settings.general.retrySentHelp")}
          checked={draft.retrySent}
          onChange={(event) => change({ retrySent: event.currentTarget.checked })}
        />
        <Switch
          {...switchLookOf(props, "copyResults", t("settings.general.copyVideos"))}
          description={t("settings.general.copyVideosHelp")}
          checked={draft.copyResults}
          onChange={(event) => change({ copyResults: event.currentTarget.checked })}
        />
      </SimpleGrid>
    </Section>
  );
}

/** What becomes of calls that no budget can count. */
export function UnpricedFields(props: FieldsProps) {
  const { draft, change } = props;
  return (
    <Section title={t("settings.unpriced.title")} description={t("settings.unpriced.help")}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
        <Select
          {...lookOf(props, "unpriced", t("settings.unpriced.calls"))}
          description={unpricedHelp[draft.unpriced]}
          data={unpricedPolicies}
          value={draft.unpriced}
          onChange={(value) => {
            const chosen = unpricedPolicies.find((each) => each.value === value);
            if (chosen !== undefined) change({ unpriced: chosen.value });
          }}
          allowDeselect={false}
        />
        {draft.unpriced === "price_as" && (
          <TextInput
            {...lookOf(props, "priceAs", t("settings.unpriced.model"))}
            description={t("settings.unpriced.modelHelp")}
            maxLength={256}
            value={draft.priceAs}
            onChange={(event) => change({ priceAs: event.currentTarget.value })}
          />
        )}
      </SimpleGrid>
    </Section>
  );
}

export function lookOf({ isLocked, fault }: FieldsProps, name: keyof SettingsDraft, label: string) {
  const locked = isLocked(name);
  // Read-only rather than disabled: what is in force stays legible.
  const look = locked ? ({ variant: "filled", readOnly: true } as const) : {};
  return { label: <SettingLabel label={label} locked={locked} />, error: fault(name), ...look };
}

export function switchLookOf({ isLocked }: FieldsProps, name: keyof SettingsDraft, label: string) {
  const locked = isLocked(name);
  return { label: <SettingLabel label={label} locked={locked} />, disabled: locked };
}

function daysOf({ draft, change }: FieldsProps, name: RetentionName, max: number) {
  return {
    suffix: ` ${t("settings.general.days")}`,
    min: 1,
    max,
    allowDecimal: false,
    allowNegative: false,
    value: draft[name] ?? "",
    onChange: (value: string | number) => change({ [name]: typeof value === "number" ? value : null }),
  };
}

const durabilities = [
  { value: "process", label: t("settings.durability.process") },
  { value: "disk", label: t("settings.durability.disk") },
  { value: "strict", label: t("settings.durability.strict") },
  { value: "remote", label: t("settings.durability.remote") },
] as const;

const disconnects = [
  { value: "cancel", label: t("settings.disconnect.cancel") },
  { value: "drain", label: t("settings.disconnect.drain") },
] as const;

const unpricedPolicies = [
  { value: "block_in_budgets", label: t("settings.unpriced.block_in_budgets") },
  { value: "block", label: t("settings.unpriced.block") },
  { value: "allow", label: t("settings.unpriced.allow") },
  { value: "price_as", label: t("settings.unpriced.price_as") },
] as const;

const unpricedHelp = {
  block_in_budgets: t("settings.unpriced.block_in_budgetsHelp"),
  block: t("settings.unpriced.blockHelp"),
  allow: t("settings.unpriced.allowHelp"),
  price_as: t("settings.unpriced.price_asHelp"),
} as const;
