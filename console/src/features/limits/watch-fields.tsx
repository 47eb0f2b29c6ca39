import { Select } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { KeySelect } from "../keys/key-select.tsx";
import type { NoticeFieldsProps } from "./channel-fields.tsx";
import { watches } from "./notice-draft.ts";

const watchWords = {
  all: "Every budget in the workspace",
  workspace: "The budget of the workspace",
  groups: "The budgets of all groups",
  group: "The budget of one group",
  keys: "The budgets of all keys",
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
        label="Watches"
        data={watches.map((value) => ({ value, label: watchWords[value] }))}
        value={draft.watch}
        onChange={(value) => onChange({ watch: watches.find((each) => each === value) ?? "all", scopeId: null })}
        allowDeselect={false}
        error={wrongField(problem, "scope")}
      />
      {draft.watch === "group" && (
        <Select
          label="Group"
          placeholder="Choose a group"
          data={(groups.data?.data ?? []).map((group) => ({
            value: group.id,
            label: group.budget === null ? `${group.name} (no budget yet)` : group.name,
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
          label="Key"
          value={draft.scopeId}
          onChange={(scopeId) => onChange({ scopeId })}
          error={wrongField(problem, "scope_id")}
        />
      )}
    </>
  );
}
