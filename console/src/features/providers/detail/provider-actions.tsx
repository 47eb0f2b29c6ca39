import { Button, Tooltip } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { noticeUndo } from "../../../components/notice.tsx";
import { t } from "../../../language/areas/providers.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";

/** Disables, enables and removes a provider, unless the config file manages it. */
export function ProviderActions({ provider }: { readonly provider: ConsoleProvider }) {
  const { id, enabled, deployments, managed_by } = provider;
  const navigate = useNavigate();
  const params = { provider: id };
  const set = useAct("providers.update", { invalidates: afterCatalogChange });
  const remove = useAct("providers.remove", {
    invalidates: ["providers.list"],
    done: t("providers.remove.done", { id }),
    onDone: () => void navigate({ to: "/providers", search: {} }),
  });
  if (managed_by === "file") return null;
  const enable = () => set.mutate({ params, body: { enabled: true } });
  const disable = async () => {
    await set.mutateAsync({ params, body: { enabled: false } });
    noticeUndo(t("providers.disable.done", { id }), enable);
  };
  return (
    <>
      {deployments === 0 ? (
        <ConfirmButton
          title={t("providers.remove.title", { id })}
          verb={t("providers.remove.verb")}
          label={t("providers.remove.label")}
          typed={id}
          onConfirm={() => remove.mutateAsync({ params })}
        >
          {t("providers.remove.help")}
        </ConfirmButton>
      ) : (
        <Tooltip label={t("providers.remove.inUse")}>
          <Button variant="default" data-disabled aria-disabled onClick={(event) => event.preventDefault()}>
            {t("providers.remove.label")}
          </Button>
        </Tooltip>
      )}
      {enabled ? (
        <ConfirmButton
          title={t("providers.disable.title", { id })}
          verb={t("providers.disable.verb")}
          label={t("providers.disable.label")}
          onConfirm={disable}
        >
          {t("providers.disable.help")}
        </ConfirmButton>
      ) : (
        <Button loading={set.isPending} onClick={enable}>
          {t("providers.enable")}
        </Button>
      )}
    </>
  );
}
