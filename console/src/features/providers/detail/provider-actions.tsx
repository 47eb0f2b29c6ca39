import { Button, Tooltip } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { noticeUndo } from "../../../components/notice.tsx";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";

/** Off, on and away. What the config file owns is changed there. */
export function ProviderActions({ provider }: { readonly provider: ConsoleProvider }) {
  const { id, enabled, deployments, managed_by } = provider;
  const navigate = useNavigate();
  const params = { provider: id };
  const set = useAct("providers.update", { invalidates: afterCatalogChange });
  const remove = useAct("providers.remove", {
    invalidates: ["providers.list"],
    done: `Provider ${id} is removed.`,
    onDone: () => void navigate({ to: "/providers", search: {} }),
  });
  if (managed_by === "file") return null;
  const enable = () => set.mutate({ params, body: { enabled: true } });
  const disable = async () => {
    await set.mutateAsync({ params, body: { enabled: false } });
    noticeUndo(`Provider ${id} is disabled.`, enable);
  };
  return (
    <>
      {deployments === 0 ? (
        <ConfirmButton
          title={`Remove ${id}?`}
          verb="Remove provider"
          label="Remove"
          typed={id}
          onConfirm={() => remove.mutateAsync({ params })}
        >
          Its key is forgotten. What it answered stays in the ledger. This cannot be taken back.
        </ConfirmButton>
      ) : (
        <Tooltip label="Models still lead to it. Take it out of them first.">
          <Button variant="default" data-disabled aria-disabled onClick={(event) => event.preventDefault()}>
            Remove
          </Button>
        </Tooltip>
      )}
      {enabled ? (
        <ConfirmButton title={`Disable ${id}?`} verb="Disable provider" label="Disable" onConfirm={disable}>
          No new call goes to it; those that run are let finish. Models that lead nowhere else stop answering. You can
          enable it again at any time.
        </ConfirmButton>
      ) : (
        <Button loading={set.isPending} onClick={enable}>
          Enable
        </Button>
      )}
    </>
  );
}
