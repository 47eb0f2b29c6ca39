import { Skeleton } from "@mantine/core";
import { IconShield } from "@tabler/icons-react";
import { lazy, Suspense } from "react";
import { useCall } from "../../../api/use-call.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Nothing } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/rules.ts";
import { loadChunk } from "../../../routes/load-chunk.ts";
import { useUrlText } from "../../../routes/search.ts";
import type { OidcAccount } from "../oidc-draft.ts";

const RulesDrawer = lazy(async () => ({ default: (await loadChunk(() => import("./rules-drawer.tsx"))).RulesDrawer }));

interface Source {
  /** As the admin API calls it: `oidc:corp`, `scim`. */
  readonly id: string;
  readonly name: string;
}

/** The sources of roles and permissions, with their rules. The URL holds the open one. */
export function RulesSection({ accounts }: { readonly accounts: readonly OidcAccount[] | null }) {
  const [open, setOpen] = useUrlText("rules");
  const sources: readonly Source[] | null = accounts && [
    ...accounts.map(({ id, name }) => ({ id: `oidc:${id}`, name })),
    { id: "scim", name: t("rules.scim") },
  ];
  const shown = sources?.find(({ id }) => id === open);
  return (
    <Section flush title={t("rules.title")} description={t("rules.help")}>
      <DataTable
        label={t("rules.title")}
        columns={columns}
        rows={rowsOf(sources)}
        waitingRows={1}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: "/settings", search: { tab: "sign-in", rules: id } })}
        empty={
          <EmptyState icon={<IconShield />} title={t("rules.title")}>
            {t("rules.help")}
          </EmptyState>
        }
      />
      {shown !== undefined && (
        <Suspense fallback={null}>
          <RulesDrawer key={shown.id} source={shown.id} name={shown.name} onClose={() => setOpen("")} />
        </Suspense>
      )}
    </Section>
  );
}

const columns: readonly Column<Source>[] = [
  { id: "source", header: t("rules.source"), cell: ({ name }) => name },
  { id: "rules", header: t("rules.rules"), cell: ({ id }) => <Count source={id} /> },
];

function Count({ source }: { readonly source: string }) {
  const { data, error } = useCall("rights.rules", { params: { source } });
  if (data === undefined) return error === null ? <Skeleton height={14} width={60} /> : <Nothing />;
  return (
    <span>
      {t("rules.count", { count: data.rules.length })} <ManagedByFile by={data.managed_by} />
    </span>
  );
}
