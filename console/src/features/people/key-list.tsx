import { Text } from "@mantine/core";
import type { ListedKey } from "@sluice/contract";
import type { LinkProps } from "@tanstack/react-router";
import { usePages } from "../../api/use-pages.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/people.ts";
import { columnsInWorkspace, columnsOfAll } from "../keys/list/key-columns.tsx";
import { relationOf } from "./leaver-decisions.ts";

interface KeyListProps {
  readonly title: string;
  readonly description: string;
  readonly empty: string;
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  readonly of: { readonly user: string } | { readonly group: string };
}

/** The keys that a person created or owns, or all keys of a group. */
export function KeyList({ title, description, empty, workspace, of }: KeyListProps) {
  const keys = usePages("keys.list", { params: { workspace }, query: { ...of, sort: "-used" } });
  const [name, ...rest] = workspace === "-" ? columnsOfAll : columnsInWorkspace;
  const relation: Column<ListedKey>[] =
    "user" in of
      ? [
          {
            id: "relation",
            header: t("people.keys.relationTitle"),
            cell: (key) => t(`people.keys.relation.${relationOf(key, of.user)}`),
          },
        ]
      : [];
  return (
    <Section flush title={title} description={description}>
      <DataTable
        label={title}
        columns={name === undefined ? [] : [name, ...relation, ...rest]}
        rows={keys}
        rowKey={(key) => key.id}
        pageSize={20}
        dimmed={({ state }) => state !== "active"}
        rowLink={({ id, workspace: { slug } }): LinkProps => ({
          to: "/keys/$key",
          params: { key: id },
          search: { workspace: slug },
        })}
        empty={
          <Text ta="center" c="dimmed" fz="sm" py="md">
            {empty}
          </Text>
        }
      />
    </Section>
  );
}
