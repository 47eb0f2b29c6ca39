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
import { useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { ForAdministrators } from "../../catalog/for-administrators.tsx";
import { useKinds } from "../../catalog/use-kinds.ts";
import { AddProvider } from "./add-provider.tsx";
import { type ProviderRow, providerColumns } from "./provider-columns.tsx";
import { fitsProvider, providerFilters } from "./provider-filter.ts";

export default function ProvidersPage() {
  return useSession().may("administrator") ? <Providers /> : <ForAdministrators title="Providers" />;
}

const lookMs = 10_000;

/** The upstream accounts: how they are, and how another is added. */
function Providers() {
  const [add, setAdd] = useUrlText("add");
  const search = useUrlSearch();
  const { titleOf } = useKinds();
  const query = useCall("providers.list", { everyMs: lookMs });
  const all = useMemo(
    () => (query.data?.data ?? []).map((provider): ProviderRow => ({ ...provider, title: titleOf(provider.kind) })),
    [query.data, titleOf],
  );
  const fitting = useMemo(() => all.filter((provider) => fitsProvider(provider, search)), [all, search]);
  const addButton = (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAdd("choose")}>
      Add provider
    </Button>
  );
  return (
    <PageFrame
      title="Providers"
      description="The upstream accounts that answer calls. Models lead to one or several of them."
      actions={addButton}
    >
      <FilterBar filters={providerFilters}>
        <SearchBox label="Find a provider" placeholder="Name, kind or address" />
      </FilterBar>
      <DataTable
        label="Providers"
        columns={providerColumns}
        rows={rowsIn(query, () => fitting)}
        rowKey={(provider) => provider.id}
        rowLink={(provider) => ({ to: "/providers/$provider", params: { provider: provider.id }, search: {} })}
        dimmed={(provider) => !provider.enabled}
        empty={all.length === 0 ? <NoProviders addButton={addButton} /> : <NoneFits />}
      />
      {add !== "" && (
        <AddProvider kind={add} onKind={setAdd} onClose={() => setAdd("")} taken={all.map((provider) => provider.id)} />
      )}
    </PageFrame>
  );
}

function NoProviders({ addButton }: { readonly addButton: React.ReactNode }) {
  return (
    <EmptyState icon={<IconPlugConnected />} title="No providers yet" action={addButton}>
      A provider is one account upstream: OpenAI, Anthropic, a cloud, a server of your own. With its key the gateway
      calls its models, so that your programs never hold that key.
    </EmptyState>
  );
}

function NoneFits() {
  return (
    <EmptyState icon={<IconPlugConnected />} title="No provider looks like that">
      Search for part of a name, of a kind or of an address, or clear the filters.
    </EmptyState>
  );
}
