import { Button, Radio, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { everyWorkspace, type LeaverKeys, type PersonDetail } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { t } from "../../language/areas/people.ts";
import { useSession } from "../../session/session-context.tsx";
import { LeaverDialog } from "./leaver-dialog.tsx";

type Ending = "disable" | "remove" | "leave";

const invalidates = ["people.show", "users.list", "members.list", "keys.list", "keys.show", "limits.list"] as const;

interface OffboardProps {
  readonly person: PersonDetail;
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
}

/** Ends a person's access: disables or deletes the account, or removes them from the workspace. The reversible choice comes first. */
export function Offboard({ person, workspace }: OffboardProps) {
  const { user, may } = useSession();
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure(false);
  const [chosen, choose] = useState<Ending | null>(null);
  const done = t("people.offboard.done", { name: person.name || person.email });
  const update = useAct("users.update", { invalidates, done });
  const remove = useAct("users.remove", { invalidates, done });
  const leave = useAct("members.remove", { invalidates, done });
  const role = person.workspaces.find(({ slug }) => slug === workspace)?.role;
  const endings: Ending[] = [
    ...(user.administrator && !person.disabled ? (["disable"] as const) : []),
    ...(role !== undefined && may("admin", workspace) && may(role, workspace) ? (["leave"] as const) : []),
    ...(user.administrator ? (["remove"] as const) : []),
  ];
  const ending = chosen !== null && endings.includes(chosen) ? chosen : endings[0];
  if (person.id === user.id || ending === undefined) return null;
  const end = async (keys: LeaverKeys | undefined) => {
    const account = { user: person.id };
    if (ending === "disable") await update.mutateAsync({ params: account, body: { disabled: true, keys } });
    else if (ending === "remove") await remove.mutateAsync({ params: account, body: { keys } });
    else await leave.mutateAsync({ params: { ...account, workspace }, body: { keys } });
    if (ending === "remove") await navigate({ to: "/settings", search: { tab: "users", workspace } });
    else if (ending === "leave" && !user.administrator) {
      await navigate({ to: "/workspaces/$workspace", params: { workspace }, search: { workspace, tab: "members" } });
    }
  };
  return (
    <>
      <Button color="red" variant="light" onClick={open}>
        {t("people.offboard.open")}
      </Button>
      <LeaverDialog
        leaver={person}
        workspace={ending === "leave" ? workspace : everyWorkspace}
        opened={opened}
        onClose={close}
        title={t("people.offboard.title", { name: person.name || person.email })}
        verb={t(`people.offboard.verb.${ending}`)}
        {...(ending === "remove" ? { typed: person.email } : {})}
        onConfirm={end}
      >
        <Radio.Group
          aria-label={t("people.offboard.how")}
          value={ending}
          onChange={(next) => choose(endings.find((each) => each === next) ?? null)}
        >
          <Stack gap="xs">
            {endings.map((each) => (
              <Radio
                key={each}
                value={each}
                size="sm"
                label={t(`people.offboard.label.${each}`, { workspace })}
                description={t(`people.offboard.help.${each}`)}
              />
            ))}
          </Stack>
        </Radio.Group>
      </LeaverDialog>
    </>
  );
}
