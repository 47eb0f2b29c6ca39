import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/requests.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";

const offered = 30;
const quietMs = 250;

/** There may be a hundred thousand keys, so the gateway searches. */
export function KeyFilter() {
  const workspace = useWorkspace();
  const [key, setKey] = useUrlText("key");
  const [text, setText] = useState("");
  const [opened, setOpened] = useState(false);
  const [asked] = useDebouncedValue(text, quietMs);
  const chosenName = useKeyName(key);
  // The box contains the name of the selection, which is not a search.
  const search = asked === chosenName ? "" : asked;
  const found = useCall("keys.list", {
    params: { workspace: workspace.path },
    query: { limit: offered, ...(search === "" ? {} : { search }) },
    enabled: opened && !workspace.none,
    keepBefore: true,
  });
  const choices = (found.data?.data ?? []).map((each) => ({
    value: each.id,
    label: workspace.all ? `${each.workspace.slug}/${each.name}` : each.name,
  }));
  const isListed = key === "" || choices.some((choice) => choice.value === key);
  return (
    <Select
      className="filter"
      aria-label={t("requests.filters.key")}
      placeholder={t("requests.filters.key")}
      data={isListed ? choices : [{ value: key, label: chosenName }, ...choices]}
      value={key === "" ? null : key}
      onChange={(value) => setKey(value ?? "")}
      searchable
      searchValue={text}
      onSearchChange={setText}
      onDropdownOpen={() => setOpened(true)}
      // The gateway has already searched, also by other fields than the name.
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching ? t("requests.filters.searching") : t("requests.filters.noKey")}
      maxLength={256}
      clearable
    />
  );
}

/** The name of the key ID in the URL. For all workspaces it comes from the requests. */
function useKeyName(key: string): string {
  const { path, slug } = useWorkspace();
  const inOne = key !== "" && slug !== null;
  const shown = useCall("keys.show", { params: { workspace: path, key: key || "-" }, enabled: inOne });
  const inAll = key !== "" && slug === null;
  const used = useCall("requests.list", { params: { workspace: path }, query: { key, limit: 1 }, enabled: inAll });
  const row = used.data?.data[0];
  if (slug !== null) return shown.data?.name ?? key;
  return row === undefined || row.key.name === "" ? key : `${row.workspace.slug}/${row.key.name}`;
}
