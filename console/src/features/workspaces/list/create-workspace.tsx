import { TextInput } from "@mantine/core";
import type { ConsoleWorkspace } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../../components/form-drawer.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { budgetBlockedBy } from "../../limits/budget-increase.ts";
import { type Bounds, BoundsFields } from "../bounds-fields.tsx";
import { slugFault, slugOf } from "../slug-of.ts";
import { afterWorkspaceChange } from "../workspace-routes.ts";

interface CreateWorkspaceProps {
  readonly onClose: () => void;
  readonly onMade: (workspace: ConsoleWorkspace) => void;
}

const fresh: Bounds = { models: ["*"], enforce_models: true, pass_through: [], limits: {}, budget: null };

export function CreateWorkspace({ onClose, onMade }: CreateWorkspaceProps) {
  const [name, setName] = useState("");
  // null: derived from the name until the user edits it.
  const [written, setWritten] = useState<string | null>(null);
  const [bounds, setBounds] = useState<Bounds>(fresh);
  const make = useAct("workspaces.create", {
    inline: true,
    invalidates: afterWorkspaceChange,
    done: (made) => t("workspaces.create.done", { name: made.name }),
    onDone: onMade,
  });
  const slug = written ?? slugOf(name);
  const { enforce_models, limits, budget } = bounds;
  const body = {
    slug,
    name: name.trim(),
    models: [...bounds.models],
    enforce_models,
    pass_through: [...bounds.pass_through],
    limits,
    budget,
  };
  const slugWrong = slug === "" ? null : slugFault(slug);
  return (
    <FormDrawer
      opened
      title={t("workspaces.create.verb")}
      verb={t("workspaces.create.verb")}
      onClose={onClose}
      onSubmit={() => make.mutate({ body })}
      saving={make.isPending}
      problem={make.error}
      blocked={
        name.trim() === ""
          ? t("workspaces.fields.nameMissing")
          : slug === ""
            ? t("workspaces.fields.slugMissing")
            : slugWrong === null
              ? budgetBlockedBy(bounds.budget)
              : t("workspaces.fields.needsAttention")
      }
    >
      <TextInput
        label={t("workspaces.name")}
        placeholder={t("workspaces.fields.namePlaceholder")}
        required
        data-autofocus
        maxLength={256}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={wrongField(make.error, "name")}
      />
      <TextInput
        label={t("workspaces.slug")}
        description={t("workspaces.fields.slugHelp")}
        placeholder={t("workspaces.fields.slugPlaceholder")}
        required
        spellCheck={false}
        maxLength={63}
        value={slug}
        onChange={(event) => setWritten(event.currentTarget.value)}
        error={slugWrong ?? wrongField(make.error, "slug")}
      />
      <BoundsFields
        value={bounds}
        onChange={(changes) => setBounds((before) => ({ ...before, ...changes }))}
        problem={make.error}
      />
    </FormDrawer>
  );
}
