import { useCall } from "../../../api/use-call.ts";
import { personText } from "../../../components/person-text.ts";
import { t } from "../../../language/areas/requests.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { ChoiceFilter } from "./choice-filter.tsx";

/** Not for members and viewers, who see only their own requests. Lists the workspace's members, plus a person from the URL. */
export function PersonFilter() {
  const { slug, path, may } = useWorkspace();
  const [person] = useUrlText("person");
  const members = useCall("members.list", { params: { workspace: path }, enabled: slug !== null && may("admin") });
  const choices = (members.data?.data ?? []).map((member) => ({ value: member.id, label: personText(member) }));
  const isOther = person !== "" && choices.every(({ value }) => value !== person) && !members.isFetching;
  const query = { person, limit: 1 };
  const used = useCall("requests.list", { params: { workspace: path }, query, enabled: isOther });
  const other = used.data?.data[0]?.person;
  if (other != null) choices.push({ value: other.id, label: personText(other) });
  if (person === "" && (choices.length < 2 || !may("admin"))) return null;
  return <ChoiceFilter name="person" label={t("requests.filters.person")} choices={choices} />;
}
