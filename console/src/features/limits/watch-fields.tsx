import { Select } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/limits.ts";
import { KeySelect } from "../keys/key-select.tsx";
import { watches } from "./alert-draft.ts";
import type { AlertFieldsProps } from "./channel-fields.tsx";

const watchWords = {
  all: t("limits.watch.all"),
  workspace: t("limits.watch.workspace"),
  groups: t("limits.watch.groups"),
  group: t("limits.watch.group"),
  persons: t("limits.watch.persons"),
  person: t("limits.watch.person"),
  keys: t("limits.watch.keys"),
  key: t("limits.watch.key"),
} as const;

/** The budgets that an alert watches. */
export function WatchFields({
  workspace,
  draft,
  onChange,
  problem,
}: AlertFieldsProps & { readonly workspace: string }) {
  const groups = useCall("groups.list", { params: { workspace }, enabled: draft.watch === "group" });
  const members = useCall("members.list", { params: { workspace }, enabled: draft.watch === "person" });
  return (
    <>
      <Select
        label={t("limits.alert.watches")}
        data={watches.map((value) => ({ value, label: watchWords[value] }))}
        value={draft.watch}
        onChange={(value) => onChange({ watch: watches.find((each) => each === value) ?? "all", scopeId: null })}
        allowDeselect={false}
        error={wrongField(problem, "scope")}
      />
      {draft.watch === "group" && (
        <Select
          label={t("limits.scope.group")}
          placeholder={t("limits.watch.groupPlaceholder")}
          required
          data={(groups.data?.data ?? []).map((group) => ({
            value: group.id,
            label: group.budget === null ? t("limits.watch.noBudget", { name: group.name }) : group.name,
          }))}
          value={draft.scopeId}
          onChange={(scopeId) => onChange({ scopeId })}
          allowDeselect={false}
          error={wrongField(problem, "scope_id")}
        />
      )}
      {draft.watch === "person" && (
        <Select
          label={t("limits.scope.person")}
          placeholder={t("limits.watch.personPlaceholder")}
          required
          searchable
          data={(members.data?.data ?? []).map((member) => ({
            value: member.id,
            label: member.budget === null ? t("limits.watch.noBudget", { name: member.email }) : member.email,
          }))}
          value={draft.scopeId}
          onChange={(scopeId) => onChange({ scopeId })}
          allowDeselect={false}
          error={wrongField(problem, "scope_id")}
        />
      )}
      {draft.watch === "key" && (
        <KeySelect
          workspace={workspace}
          label={t("limits.scope.key")}
          value={draft.scopeId}
          onChange={(scopeId) => onChange({ scopeId })}
          error={wrongField(problem, "scope_id")}
        />
      )}
    </>
  );
}
