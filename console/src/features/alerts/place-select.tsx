import { Select } from "@mantine/core";
import { everyWorkspace } from "@sluice/contract";
import { t } from "../../language/areas/alerts.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspaceChoices } from "../../session/workspace-choices.ts";

interface PlaceSelectProps {
  /** A slug; null: the installation. */
  readonly value: string | null;
  readonly onChange: (workspace: string | null) => void;
}

/** The owner of a new rule or channel: a workspace that the user manages or, for administrators, the installation. */
export function PlaceSelect({ value, onChange }: PlaceSelectProps) {
  const { user } = useSession();
  const slugs = useManagedWorkspaces();
  const places = slugs.map((slug) => ({ value: slug, label: slug }));
  return (
    <Select
      label={t("alerts.form.where")}
      data={user.administrator ? [{ value: everyWorkspace, label: t("alerts.installation") }, ...places] : places}
      value={value ?? everyWorkspace}
      onChange={(place) => onChange(place === everyWorkspace ? null : place)}
      allowDeselect={false}
      searchable
    />
  );
}

/** The place of a new rule or channel: a slug; null: the installation; undefined: the user may not create one. */
export function useNewPlace(workspace: string | null): string | null | undefined {
  const { user, may } = useSession();
  const managed = useManagedWorkspaces();
  if (workspace !== null && may("admin", workspace)) return workspace;
  return user.administrator ? null : managed[0];
}

function useManagedWorkspaces(): readonly string[] {
  const { may } = useSession();
  return useWorkspaceChoices()
    .map(({ slug }) => slug)
    .filter((slug) => may("admin", slug));
}
