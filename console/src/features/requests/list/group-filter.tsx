import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/requests.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { ChoiceFilter } from "./choice-filter.tsx";

/** Groups belong to a workspace. If all workspaces are shown, only the group of the link is offered. */
export function GroupFilter() {
  const { slug, path } = useWorkspace();
  const [group] = useUrlText("group");
  const groups = useCall("groups.list", { params: { workspace: path }, enabled: slug !== null });
  const choices = (groups.data?.data ?? []).map((each) => ({ value: each.id, label: each.name }));
  if (group === "" && choices.length < 2) return null;
  return <ChoiceFilter name="group" label={t("requests.filters.group")} choices={choices} />;
}
