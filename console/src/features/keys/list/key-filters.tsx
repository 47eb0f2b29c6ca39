import { TextInput } from "@mantine/core";
import { keyStates } from "@sluice/contract";
import { type FormEvent, useEffect, useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { type Filter, FilterBar } from "../../../components/filter-bar.tsx";
import { personText } from "../../../components/person-text.ts";
import { SearchBox } from "../../../components/search-box.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { NameFilter } from "../../requests/list/name-filter.tsx";
import { stateWords } from "../key-status.tsx";
import { keyFilters, ownKeys } from "./key-query.ts";

/** Search and filters of the list; the gateway applies them to all keys. */
export function KeyFilters() {
  const workspace = useWorkspace();
  const models = useCall("models.list");
  const filters = [...useWorkspaceFilters(workspace), ...plainFilters];
  return (
    <FilterBar filters={filters} alsoClears={keyFilters}>
      <SearchBox label={t("keys.list.search")} placeholder={t("keys.list.searchPlaceholder")} />
      <NameFilter
        name="model"
        label={t("keys.list.filters.model")}
        names={models.data?.data.map((model) => model.name) ?? []}
      />
      <TagFilter />
    </FilterBar>
  );
}

const days = [7, 30, 90];

const plainFilters: readonly Filter[] = [
  {
    name: "state",
    label: t("keys.status"),
    choices: keyStates.map((value) => ({ value, label: stateWords[value] })),
  },
  {
    name: "unused",
    label: t("keys.list.filters.unused"),
    choices: days.map((count) => ({ value: String(count), label: t("keys.list.filters.unusedFor", { count }) })),
  },
  {
    name: "expiring",
    label: t("keys.list.filters.expiring"),
    choices: days.map((count) => ({ value: String(count), label: t("keys.list.filters.expiringIn", { count }) })),
  },
  {
    name: "service",
    label: t("keys.service.kind"),
    choices: [
      { value: "true", label: t("keys.service.label") },
      { value: "false", label: t("keys.service.ordinary") },
    ],
  },
];

/** Groups and members belong to one workspace. */
function useWorkspaceFilters({ slug, may }: ReturnType<typeof useWorkspace>): readonly Filter[] {
  const params = { workspace: slug ?? "-" };
  const groups = useCall("groups.list", { params, enabled: slug !== null });
  const members = useCall("members.list", { params, enabled: slug !== null && may("admin") });
  const mine = { value: ownKeys, label: t("keys.list.mine") };
  const people = (members.data?.data ?? []).map((member) => ({ value: member.id, label: personText(member) }));
  const group = {
    name: "group",
    label: t("keys.group"),
    choices: (groups.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
  };
  return [
    ...(slug === null ? [] : [group]),
    { name: "owner", label: t("keys.list.owner"), choices: [mine, ...people] },
  ];
}

/** `name` or `name:value`, applied with Enter or when the field is left. */
function TagFilter() {
  const [kept, keep] = useUrlText("tag");
  const [text, setText] = useState(kept);
  useEffect(() => setText(kept), [kept]);
  const commit = (event?: FormEvent) => {
    event?.preventDefault();
    keep(text.trim());
  };
  return (
    <form onSubmit={commit} className="filter">
      <TextInput
        aria-label={t("keys.list.filters.tag")}
        placeholder={t("keys.list.filters.tagExample")}
        maxLength={257}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => commit()}
      />
    </form>
  );
}
