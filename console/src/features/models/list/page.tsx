import { Alert, Button, Group, Skeleton } from "@mantine/core";
import { IconBox, IconCoinOff, IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useCall } from "../../../api/use-call.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { SearchBox } from "../../../components/search-box.tsx";
import { t } from "../../../language/areas/models.ts";
import { useUrlChange, useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { isUnpriced } from "../../catalog/price-words.ts";
import { AddModel } from "./add-model.tsx";
import { columnsOfAll, columnsOfMembers } from "./model-columns.tsx";
import { filtersOfAll, filtersOfMembers, fitsModel, isPartlyPriced, type ModelRow } from "./model-filter.ts";
import { PriceChanges } from "./price-changes.tsx";
import { Retiring } from "./retiring.tsx";

const refreshMs = 15_000;
const none: readonly ModelRow[] = [];

const pageSize = 50;

/** The list of models with prices and deployments. */
export default function ModelsPage() {
  const mayChange = useSession().may("administrator");
  const [add, setAdd] = useUrlText("add");
  const search = useUrlSearch();
  const query = useCall("models.list", { everyMs: refreshMs });
  const all: readonly ModelRow[] = query.data?.data ?? none;
  // Notices above the list load with it, so that they do not move it later.
  const priceList = useCall("priceList.show", { enabled: mayChange });
  const waiting = mayChange && (query.isPending || priceList.isPending);
  const fitting = useMemo(() => all.filter((model) => fitsModel(model, search)), [all, search]);
  return (
    <PageFrame
      title={t("models.title")}
      description={t("models.list.help")}
      actions={
        mayChange && (
          <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAdd("1")}>
            {t("models.add.button")}
          </Button>
        )
      }
    >
      {waiting ? (
        <Skeleton height={420} aria-busy="true" />
      ) : (
        <>
          {mayChange && <Unpriced models={all} />}
          {mayChange && <PartlyPriced models={all} />}
          {mayChange && <PriceChanges />}
          {mayChange && <Retiring models={all} />}
          <FilterBar filters={mayChange ? filtersOfAll : filtersOfMembers} alsoClears={["search", "provider"]}>
            <SearchBox
              label={t("models.list.find")}
              placeholder={mayChange ? t("models.list.findAll") : t("models.list.findOwn")}
            />
          </FilterBar>
          <DataTable
            label={t("models.title")}
            pageSize={pageSize}
            columns={mayChange ? columnsOfAll : columnsOfMembers}
            rows={rowsIn(query, () => fitting)}
            rowKey={(model) => model.name}
            name="models"
            rowLink={(model) => ({ to: "/models/$model", params: { model: model.name }, search: {} })}
            dimmed={(model) => model.deployments?.every((each) => !each.enabled) === true}
            empty={all.length === 0 ? <NoModels mayChange={mayChange} onAdd={() => setAdd("1")} /> : <NoneFits />}
          />
        </>
      )}
      {add !== "" && mayChange && <AddModel onClose={() => setAdd("")} />}
    </PageFrame>
  );
}

/** Warns above the list about models without a price, because budgets do not count them. */
function Unpriced({ models }: { readonly models: readonly ModelRow[] }) {
  const [price] = useUrlText("price");
  const change = useUrlChange();
  const without = models.filter((model) => isUnpriced(model.price));
  const unpriced = without.length;
  const blocked = without.filter(({ calls }) => calls === "blocked").length;
  const free = without.filter(({ calls }) => calls === "free").length;
  const inBudgets = without.filter(({ calls }) => calls === "blocked_in_budgets").length;
  const borrowed = unpriced - blocked - inBudgets - free;
  if (unpriced === 0 || price === "none") return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconCoinOff size={18} />}
      title={t("models.unpriced.title", { count: unpriced })}
    >
      <Group justify="space-between" gap="xs">
        <span>
          {[
            ...(blocked > 0 ? [t("models.unpriced.blocked", { count: blocked })] : []),
            ...(inBudgets > 0 ? [t("models.unpriced.inBudgets", { count: inBudgets })] : []),
            ...(free > 0 ? [t("models.unpriced.free", { count: free })] : []),
            ...(borrowed > 0 ? [t("models.unpriced.borrowed", { count: borrowed })] : []),
          ].join(" ")}
        </span>
        <Button variant="default" onClick={() => change({ price: "none", search: "", type: "", health: "" })}>
          {t("models.unpriced.show")}
        </Button>
      </Group>
    </Alert>
  );
}

/** Warns above the list about models with an incomplete price. */
function PartlyPriced({ models }: { readonly models: readonly ModelRow[] }) {
  const [price] = useUrlText("price");
  const change = useUrlChange();
  const count = models.filter(isPartlyPriced).length;
  if (count === 0 || price === "partly") return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconCoinOff size={18} />}
      title={t("models.partlyPriced.count", { count })}
    >
      <Group justify="space-between" gap="xs">
        <span>{t("models.partlyPriced.help")}</span>
        <Button variant="default" onClick={() => change({ price: "partly", search: "", type: "", health: "" })}>
          {t("models.partlyPriced.show")}
        </Button>
      </Group>
    </Alert>
  );
}

function NoModels({ mayChange, onAdd }: { readonly mayChange: boolean; readonly onAdd: () => void }): ReactNode {
  if (!mayChange) {
    return (
      <EmptyState icon={<IconBox />} title={t("models.empty.members")}>
        {t("models.empty.membersHelp")}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<IconBox />}
      title={t("models.empty.title")}
      action={
        <>
          <Button variant="default" onClick={onAdd}>
            {t("models.add.button")}
          </Button>
          <Button renderRoot={(props) => <Link to="/providers" search={{}} {...props} />}>
            {t("models.empty.import")}
          </Button>
        </>
      }
    >
      {t("models.empty.help")}
    </EmptyState>
  );
}

function NoneFits() {
  return (
    <EmptyState icon={<IconBox />} title={t("models.empty.noMatch")}>
      {t("models.empty.noMatchHelp")}
    </EmptyState>
  );
}
