import { Select } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { useUrlText } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";

/** Groups belong to a workspace; among all workspaces there is only the one that a link came with. */
export function GroupFilter() {
  const { slug, path } = useWorkspace();
  const [group, setGroup] = useUrlText("group");
  const groups = useCall("groups.list", { params: { workspace: path }, enabled: slug !== null });
  const choices = (groups.data?.data ?? []).map((each) => ({ value: each.id, label: each.name }));
  if (group === "" && choices.length < 2) return null;
  const known = group === "" || choices.some((choice) => choice.value === group);
  return (
    <Select
      className="filter"
      aria-label="Group"
      placeholder="Group"
      data={known ? choices : [{ value: group, label: group }, ...choices]}
      value={group === "" ? null : group}
      onChange={(value) => setGroup(value ?? "")}
      searchable={choices.length > 8}
      clearable
    />
  );
}
