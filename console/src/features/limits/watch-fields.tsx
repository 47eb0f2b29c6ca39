import { Select } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/limits.ts";
import { KeySelect } from "../keys/key-select.tsx";
import type { NoticeFieldsProps } from "./channel-fields.tsx";
import { watches } from "./notice-draft.ts";

const watchWords = {
  all: t("limits.everyBudgetInTheWorkspace"),
  workspace: t("limits.theBudgetOfTheWorkspace"),
  groups: t("limits.theBudgetsOfAllGroups"),
  group: t("limits.theBudgetOfOneGroup"),
  keys: t("limits.theBudgetsOfAllKeys"),
  key: "The budget of one key",
} as const;

/** Whose budgets a notice watches. */
export function WatchFields({
  workspace,
  draft,
  onChange,
  problem,
}: NoticeFieldsProps & { readonly workspace: string }) {
  const groups = useCall("groups.list", { params: { workspace }, enabled: draft.watch === "group" });
  return (
    <>
      <Select
        label={t("limits.watches")}
        data={watches.map((value) => ({ value, label: watchWords[value] }))}
        value={draft.watch}
        onChange={(value) => onChange({ watch: watches.find((each) => each === value) ?? "all", scopeId: null })}
        allowDeselect={false}
        error={wrongField(problem, "scope")}
      />
      {draft.watch === "group" && (
        <Select
          label={t("limits.group")}
          placeholder={t("limits.chooseAGroup")}
          data={(groups.data?.data ?? []).map((group) => ({
            value: group.id,
            label: group.budget === null ? t("limits.noBudgetYet", { name: group.name }) : group.name,
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
          label={t("limits.key")}
          value={draft.scopeId}
          onChange={(scopeId) => onChange({ scopeId })}
          error={wrongField(problem, "scope_id")}
        />
      )}
    </>
  );
}
