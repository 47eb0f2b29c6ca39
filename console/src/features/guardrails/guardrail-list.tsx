import { Button } from "@mantine/core";
import { type ConsoleGuardrail, everyWorkspace } from "@sluice/contract";
import { IconPlus, IconShieldCheck } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";
import { DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { guardrailColumns } from "./guardrail-columns.tsx";
import { GuardrailDrawer } from "./guardrail-drawer.tsx";

const newGuardrail = "new";

/** `workspace`: a slug; null: the installation. The URL holds the open guardrail. */
export function GuardrailList({ workspace }: { readonly workspace: string | null }) {
  const { user, may } = useSession();
  const [open, setOpen] = useUrlText("guardrail");
  const query = useCall("guardrails.list", { params: { workspace: workspace ?? everyWorkspace } });
  const mayCreate = workspace === null ? user.administrator : may("admin", workspace);
  const columns = useMemo(
    () =>
      guardrailColumns({
        open: setOpen,
        mayChange: ({ workspace: home }: ConsoleGuardrail) =>
          home === null ? user.administrator : may("admin", home.slug),
      }),
    [setOpen, user, may],
  );
  const opened = query.data?.data.find(({ id }) => id === open) ?? null;
  const create = mayCreate && (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setOpen(newGuardrail)}>
      {t("guardrails.create")}
    </Button>
  );
  return (
    <Section
      title={t("guardrails.list.label")}
      description={workspace === null ? t("guardrails.list.ofInstallation") : t("guardrails.list.ofWorkspace")}
      actions={create}
      flush
    >
      <DataTable
        label={t("guardrails.list.label")}
        columns={columns}
        rows={rowsIn(query, ({ data }) => data)}
        rowKey={({ id }) => id}
        dimmed={({ enabled, managed_by }) => !enabled || managed_by === "suspended"}
        empty={
          <EmptyState icon={<IconShieldCheck />} title={t("guardrails.list.empty")} action={create}>
            {t("guardrails.list.emptyHelp")}
          </EmptyState>
        }
      />
      {mayCreate && open === newGuardrail && (
        <GuardrailDrawer id={null} workspace={workspace} onClose={() => setOpen("")} />
      )}
      {opened !== null && (
        <GuardrailDrawer
          key={open}
          id={opened.id}
          workspace={opened.workspace?.slug ?? null}
          onClose={() => setOpen("")}
        />
      )}
    </Section>
  );
}
