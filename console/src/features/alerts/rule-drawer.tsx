import { Select, Switch, TextInput } from "@mantine/core";
import { type AlertRule, alertKinds, everyWorkspace } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/alerts.ts";
import { locale } from "../../language/index.ts";
import { ConditionFields } from "./condition-fields.tsx";
import { PlaceSelect } from "./place-select.tsx";
import { emptyRule, type RuleDraft, ruleBlockedBy, ruleBodyOf, ruleDraftOf, ruleWords } from "./rule-draft.ts";
import { SendFields } from "./send-fields.tsx";

interface RuleDrawerProps {
  /** null: a new rule. */
  readonly rule: AlertRule | null;
  /** Where a new rule is created: a slug; null: the installation. */
  readonly place: string | null;
  readonly onClose: () => void;
}

export function RuleDrawer({ rule, place, onClose }: RuleDrawerProps) {
  const { timeZone } = Intl.DateTimeFormat(locale).resolvedOptions();
  const [draft, setDraft] = useState<RuleDraft>(() =>
    rule === null ? emptyRule(place, timeZone) : ruleDraftOf(rule, timeZone),
  );
  const settings = { inline: true, invalidates: ["alertRules.list"] as const, onDone: onClose };
  const create = useAct("alertRules.create", { ...settings, done: t("alerts.rules.created") });
  const update = useAct("alertRules.update", { ...settings, done: t("alerts.rules.saved") });
  const act = rule === null ? create : update;
  const change = (changes: Partial<RuleDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const workspace = draft.workspace ?? everyWorkspace;
  const submit = () => {
    const body = ruleBodyOf(draft, rule?.muted_until ?? null, Date.now());
    if (rule === null) create.mutate({ params: { workspace }, body });
    else update.mutate({ params: { workspace, rule: rule.id }, body });
  };
  // Providers belong to the installation.
  const kinds = alertKinds.filter((kind) => kind !== "provider_down" || draft.workspace === null);
  return (
    <FormDrawer
      opened
      title={
        rule === null
          ? t("alerts.rules.create")
          : t("alerts.rules.editOf", { name: ruleWords(rule.name, rule.condition.kind) })
      }
      verb={rule === null ? t("alerts.rules.create") : t("alerts.rules.save")}
      onClose={onClose}
      onSubmit={submit}
      saving={act.isPending}
      problem={act.error}
      blocked={ruleBlockedBy(draft)}
    >
      <TextInput
        label={t("alerts.name")}
        placeholder={t(`alerts.kind.${draft.kind}`)}
        data-autofocus
        maxLength={256}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={wrongField(act.error, "name")}
      />
      {rule === null && (
        <PlaceSelect
          value={draft.workspace}
          onChange={(next) =>
            change({
              ...{ workspace: next, channels: [], group: null, key: null, scopeId: null, watch: "all" },
              ...(next !== null && draft.kind === "provider_down" ? { kind: "budget" } : {}),
            })
          }
        />
      )}
      <Select
        label={t("alerts.kind.title")}
        data={kinds.map((kind) => ({ value: kind, label: t(`alerts.kind.${kind}`) }))}
        value={draft.kind}
        onChange={(value) => change({ kind: alertKinds.find((kind) => kind === value) ?? "budget" })}
        allowDeselect={false}
      />
      <ConditionFields draft={draft} onChange={change} problem={act.error} />
      <SendFields rule={rule} draft={draft} onChange={change} problem={act.error} />
      <Switch
        label={t("alerts.enabled")}
        checked={draft.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
    </FormDrawer>
  );
}
