import { Alert, Stack } from "@mantine/core";
import type { ConsoleModel } from "@sluice/contract";
import { IconUsers } from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { LeaveGuard } from "../../../components/leave-guard.tsx";
import { ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { t } from "../../../language/areas/models.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { SaveBar } from "../../catalog/save-bar.tsx";
import { useFaults } from "../../catalog/use-faults.ts";
import { routeChange } from "../../rehearsals/button/change-of.ts";
import { RehearseButton } from "../../rehearsals/button/rehearse-button.tsx";
import { AboutSection } from "./about-section.tsx";
import { DeploymentsSection } from "./deployments-section.tsx";
import { FallbacksSection } from "./fallbacks-section.tsx";
import {
  type ServingDraft,
  sameServing,
  servingBlocked,
  servingBody,
  servingFaults,
  servingOf,
} from "./serving-draft.ts";

/** Deployments in order, and fallbacks. Changes apply when saved. */
export function ServingPanel({ model }: { readonly model: ConsoleModel }) {
  // Health refreshes all the time; the edited draft keeps the version it is based on.
  const [work, setWork] = useState<{ readonly draft: ServingDraft; readonly from: ServingDraft } | null>(null);
  const stored = servingOf(model);
  const draft = work?.draft ?? stored;
  const body = servingBody(draft, stored);
  const isChanged = work !== null && Object.keys(body).length > 0;
  const locked = model.managed_by !== "console";
  const save = useAct("models.update", {
    invalidates: afterCatalogChange,
    shownBy: "models.show",
    inline: true,
    done: t("models.saved"),
    onDone: () => setWork(null),
  });
  const faults = useFaults(servingFaults(draft), save.error);
  const change = (part: Partial<ServingDraft>) => {
    save.reset();
    setWork({ draft: { ...draft, ...part }, from: work?.from ?? stored });
  };
  return (
    <form noValidate onSubmit={(event) => event.preventDefault()}>
      <Stack gap="lg">
        <ManagedByFileNote by={model.managed_by} />
        {isChanged && !sameServing(work.from, stored) && (
          <Alert color="yellow" variant="light" icon={<IconUsers size={16} />} title={t("models.conflict.title")}>
            {t("models.conflict.help")}
          </Alert>
        )}
        <DeploymentsSection
          model={model}
          priorities={draft.priorities}
          onChange={(priorities) => change({ priorities })}
          disabled={locked}
        />
        <FallbacksSection
          model={model.name}
          type={draft.type}
          value={draft.fallbacks}
          onChange={(fallbacks) => change({ fallbacks })}
          disabled={locked}
        />
        <AboutSection model={model} draft={draft} onChange={change} fault={faults.of} disabled={locked} />
        <SaveBar
          shown={isChanged}
          blocked={servingBlocked(draft)}
          saving={save.isPending}
          problem={save.error}
          actions={
            <RehearseButton
              change={routeChange({
                name: model.name,
                priorities: body.deployments === undefined ? null : draft.priorities,
                fallbacks: body.fallbacks ?? null,
              })}
              workspace={null}
              forAdministrators
            />
          }
          onDiscard={() => {
            save.reset();
            setWork(null);
          }}
          onSave={() => faults.check() && save.mutate({ params: { model: model.name }, body })}
        />
        <LeaveGuard dirty={isChanged} />
      </Stack>
    </form>
  );
}
