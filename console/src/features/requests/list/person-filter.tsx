import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { personText } from "../../../components/person-text.ts";
import { t } from "../../../language/areas/requests.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { useWorkspace } from "../../../session/workspace.ts";
import { ChoiceFilter } from "./choice-filter.tsx";

/** Not for members and viewers, who see only their own requests. */
export function PersonFilter() {
  const { all } = useWorkspace();
  const { user } = useSession();
  return all && user.administrator ? <AnyPersonFilter /> : <MemberFilter />;
}

/** Lists the workspace's members, plus a person from the URL. */
function MemberFilter() {
  const { slug, path, may } = useWorkspace();
  const [person] = useUrlText("person");
  const members = useCall("members.list", { params: { workspace: path }, enabled: slug !== null && may("admin") });
  const choices = (members.data?.data ?? []).map((member) => ({ value: member.id, label: personText(member) }));
  const isOther = person !== "" && choices.every(({ value }) => value !== person) && !members.isFetching;
  const other = useCaller(person, isOther);
  if (other !== null) choices.push({ value: person, label: other });
  if (person === "" && (choices.length < 2 || !may("admin"))) return null;
  return <ChoiceFilter name="person" label={t("requests.filters.person")} choices={choices} />;
}

const offered = 30;
const quietMs = 250;

/** For all workspaces. There may be thousands of people, so the gateway searches. */
function AnyPersonFilter() {
  const [person, setPerson] = useUrlText("person");
  const [text, setText] = useState("");
  const [opened, setOpened] = useState(false);
  const [searchText] = useDebouncedValue(text, quietMs);
  const chosen = useCaller(person, person !== "") ?? person;
  // The box contains the name of the selection, which is not a search.
  const search = searchText === chosen ? "" : searchText.trim();
  const found = useCall("users.list", {
    query: { limit: offered, ...(search === "" ? {} : { search }) },
    enabled: opened,
    keepBefore: true,
  });
  const choices = (found.data?.data ?? []).map((each) => ({ value: each.id, label: personText(each) }));
  const isListed = person === "" || choices.some(({ value }) => value === person);
  return (
    <Select
      className="filter"
      aria-label={t("requests.filters.person")}
      placeholder={t("requests.filters.person")}
      data={isListed ? choices : [{ value: person, label: chosen }, ...choices]}
      value={person === "" ? null : person}
      onChange={(value) => setPerson(value ?? "")}
      searchable
      searchValue={text}
      onSearchChange={setText}
      onDropdownOpen={() => setOpened(true)}
      // The gateway has already searched, also by address.
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching ? t("requests.filters.searching") : t("requests.filters.noPerson")}
      maxLength={256}
      clearable
    />
  );
}

/** The name of a person from their requests. null: not loaded, or there are none. */
function useCaller(person: string, enabled: boolean): string | null {
  const { path } = useWorkspace();
  const used = useCall("requests.list", { params: { workspace: path }, query: { person, limit: 1 }, enabled });
  const shown = used.data?.data[0]?.person;
  return shown == null ? null : personText(shown);
}
