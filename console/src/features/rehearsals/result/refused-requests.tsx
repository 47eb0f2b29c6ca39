import type { RehearsalResult } from "@sluice/contract";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Nothing, When } from "../../../components/figures.tsx";
import { modelLabel } from "../../../components/model-label.ts";
import { personText } from "../../../components/person-text.ts";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/rehearsals.ts";
import { limitNames, objectWords } from "./limit-names.ts";
import { PolicyLink, RequestLink } from "./result-link.tsx";

type Row = RehearsalResult["requests"][number];

/** The first refused requests, each with its caller and the limit. */
export function RefusedRequests({ result: { requests, refused } }: { readonly result: RehearsalResult }) {
  return (
    <Section
      title={t("rehearsals.requests.title")}
      {...(refused > requests.length
        ? { description: t("rehearsals.requests.help", { count: requests.length, all: refused }) }
        : {})}
      flush
    >
      <DataTable
        label={t("rehearsals.requests.title")}
        columns={columns}
        rows={rowsOf(requests)}
        rowKey={({ request_id: id }) => id}
        empty={null}
        pageSize={10}
      />
    </Section>
  );
}

const columns: readonly Column<Row>[] = [
  {
    id: "at",
    header: t("rehearsals.requests.time"),
    sortBy: ({ at }) => at,
    cell: ({ at, request_id: request, workspace }) => (
      <RequestLink request={request} workspace={workspace.slug}>
        <When at={at} exact />
      </RequestLink>
    ),
  },
  {
    id: "key",
    header: t("rehearsals.refused.key"),
    cell: ({ key }) => <span className="break">{key.name || key.id}</span>,
  },
  {
    id: "person",
    header: t("rehearsals.refused.person"),
    cell: ({ person }) => (person === null ? <Nothing /> : <span className="break">{personText(person)}</span>),
  },
  {
    id: "model",
    header: t("rehearsals.refused.model"),
    cell: ({ model }) => <span className="break">{modelLabel(model)}</span>,
  },
  {
    id: "reason",
    header: t("rehearsals.requests.reason"),
    cell: ({ limit, scope, scope_id: id, label, workspace }) => (
      <span className="break">
        {limitNames[limit]}{" "}
        {scope === "policy" ? (
          <PolicyLink id={id} workspace={workspace.slug}>
            {objectWords({ scope, label })}
          </PolicyLink>
        ) : (
          <small>{objectWords({ scope, label })}</small>
        )}
      </span>
    ),
  },
];
