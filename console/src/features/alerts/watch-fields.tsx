import { Select } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/alerts.ts";
import { KeySelect } from "../keys/key-select.tsx";
import { isSingle, type RuleFieldsProps, watches } from "./rule-draft.ts";

const watchWords = {
  all: t("alerts.watch.all"),
  workspace: t("alerts.watch.workspace"),
  groups: t("alerts.watch.groups"),
  group: t("alerts.watch.group"),
  persons: t("alerts.watch.persons"),
  person: t("alerts.watch.person"),
  keys: t("alerts.watch.keys"),
  key: t("alerts.watch.key"),
  policies: t("alerts.watch.policies"),
} as const;

/** The budgets that a rule watches. Only a rule of one workspace can watch a single group, person or key. */
export function WatchFields({ draft, onChange, problem }: RuleFieldsProps) {
  const workspace = draft.workspace ?? "";
  const groups = useCall("groups.list", { params: { workspace }, enabled: draft.watch === "group" });
  const members = useCall("members.list", { params: { workspace }, enabled: draft.watch === "person" });
  const offered = draft.workspace === null ? watches.filter((each) => !isSingle(each)) : watches;
  return (
    <>
      <Select
        label={t("alerts.form.watches")}
        data={offered.map((value) => ({ value, label: watchWords[value] }))}
        value={draft.watch}
        onChange={(value) => onChange({ watch: watches.find((each) => each === value) ?? "all", scopeId: null })}
        allowDeselect={false}
        error={wrongField(problem, "condition")}
      />
      {draft.watch === "group" && (
        <Select
          label={t("alerts.form.group")}
          placeholder={t("alerts.watch.groupPlaceholder")}
          required
          data={(groups.data?.data ?? []).map((group) => ({
            value: group.id,
            label: group.budget === null ? t("alerts.watch.noBudget", { name: group.name }) : group.name,
          }))}
          value={draft.scopeId}
          onChange={(scopeId) => onChange({ scopeId })}
          allowDeselect={false}
          error={wrongField(problem, "condition")}
        />
      )}
      {draft.watch === "person" && (
        <Select
          label={t("alerts.form.person")}
          placeholder={t("alerts.watch.personPlaceholder")}
          required
          searchable
          data={(members.data?.data ?? []).map((member) => ({
            value: member.id,
            label: member.budget === null ? t("alerts.watch.noBudget", { name: member.email }) : member.email,
          }))}
          value={draft.scopeId}
          onChange={(scopeId) => onChange({ scopeId })}
          allowDeselect={false}
          error={wrongField(problem, "condition")}
        />
      )}
      {draft.watch === "key" && (
        <KeySelect
          workspace={workspace}
          label={t("alerts.form.key")}
          value={draft.scopeId}
          onChange={(scopeId) => onChange({ scopeId })}
          error={wrongField(problem, "condition")}
        />
      )}
    </>
  );
}
