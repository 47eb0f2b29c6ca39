import { Button } from "@mantine/core";
import { IconPlugConnected, IconPlus } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../../api/use-call.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { SearchBox } from "../../../components/search-box.tsx";
import { t } from "../../../language/areas/providers.ts";
import { useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { ForAdministrators } from "../../catalog/for-administrators.tsx";
import { useKinds } from "../../catalog/use-kinds.ts";
import { AddProvider } from "./add-provider.tsx";
import { type ProviderRow, providerColumns } from "./provider-columns.tsx";
import { fitsProvider, providerFilters } from "./provider-filter.ts";

export default function ProvidersPage() {
  return useSession().may("administrator") ? <Providers /> : <ForAdministrators title={t("providers.title")} />;
}

const refreshMs = 10_000;
const pageSize = 50;

/** The list of providers with their health, and a form to add one. */
function Providers() {
  const [add, setAdd] = useUrlText("add");
  const search = useUrlSearch();
  const { titleOf } = useKinds();
  const query = useCall("providers.list", { everyMs: refreshMs });
  const all = useMemo(
    () => (query.data?.data ?? []).map((provider): ProviderRow => ({ ...provider, title: titleOf(provider.kind) })),
    [query.data, titleOf],
  );
  const fitting = useMemo(() => all.filter((provider) => fitsProvider(provider, search)), [all, search]);
  const addButton = (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAdd("choose")}>
      {t("providers.add.button")}
    </Button>
  );
  return (
    <PageFrame title={t("providers.title")} description={t("providers.list.help")} actions={addButton}>
      <FilterBar filters={providerFilters}>
        <SearchBox label={t("providers.list.find")} placeholder={t("providers.list.findHelp")} />
      </FilterBar>
      <DataTable
        label={t("providers.title")}
        columns={providerColumns}
        pageSize={pageSize}
        rows={rowsIn(query, () => fitting)}
        rowKey={(provider) => provider.id}
        name="providers"
        rowLink={(provider) => ({ to: "/providers/$provider", params: { provider: provider.id }, search: {} })}
        dimmed={(provider) => !provider.enabled}
        empty={all.length === 0 ? <NoProviders addButton={addButton} /> : <NoneFits />}
      />
      {add !== "" && (
        <AddProvider
          kind={add}
          onKind={setAdd}
          onClose={() => setAdd("")}
          usedIds={all.map((provider) => provider.id)}
        />
      )}
    </PageFrame>
  );
}

function NoProviders({ addButton }: { readonly addButton: React.ReactNode }) {
  return (
    <EmptyState icon={<IconPlugConnected />} title={t("providers.list.empty")} action={addButton}>
      {t("providers.list.emptyHelp")}
    </EmptyState>
  );
}

function NoneFits() {
  return (
    <EmptyState icon={<IconPlugConnected />} title={t("providers.list.noMatch")}>
      {t("providers.list.noMatchHelp")}
    </EmptyState>
  );
}
