import { ActionIcon, Menu, Text } from "@mantine/core";
import type { AnswerOf, BodyInput, ConsoleUser } from "@sluice/contract";
import {
  IconBan,
  IconCheck,
  IconDots,
  IconLink,
  IconShield,
  IconShieldDown,
  IconShieldOff,
  IconShieldUp,
  IconTrash,
} from "@tabler/icons-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmDialog } from "../../components/confirm-button.tsx";
import { When } from "../../components/figures.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { t as rulesText } from "../../language/areas/rules.ts";
import { Rich, t } from "../../language/areas/settings.ts";
import { loadChunk } from "../../routes/load-chunk.ts";
import { useSession } from "../../session/session-context.tsx";
import { LeaverDialog } from "../people/leaver-dialog.tsx";
import { ResetSecondFactor } from "./reset-second-factor.tsx";

/** Keys may change with their creator or owner. */
const afterUserChange = ["users.list", "keys.list", "keys.show"] as const;

type UserDialog = "raise" | "lower" | "disable" | "reset" | "factor" | "remove" | "rights";

const UserRights = lazy(async () => ({
  default: (await loadChunk(() => import("./rules/user-rights.tsx"))).UserRights,
}));

/** Actions on a user. Administrators cannot change themselves, to avoid locking themselves out. */
export function UserActions({ user }: { readonly user: ConsoleUser }) {
  const { user: me } = useSession();
  const [dialog, setDialog] = useState<UserDialog | null>(null);
  const [link, setLink] = useState<AnswerOf<"users.reset"> | null>(null);
  const update = useAct("users.update", { invalidates: afterUserChange, done: standing });
  const self = user.id === me.id;
  const change = (body: BodyInput<"users.update">) => update.mutateAsync({ params: { user: user.id }, body });
  return (
    <>
      <Menu width={250}>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("settings.users.actionsFor", { email: user.email })}
            className="above-row"
          >
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {self && (
            <Text fz="xs" c="dimmed" px="sm" py={4}>
              {t("settings.users.self")}
            </Text>
          )}
          {user.administrator ? (
            <Menu.Item leftSection={<IconShieldDown size={15} />} disabled={self} onClick={() => setDialog("lower")}>
              {t("settings.users.lower")}
            </Menu.Item>
          ) : (
            <Menu.Item
              leftSection={<IconShieldUp size={15} />}
              disabled={user.disabled}
              onClick={() => setDialog("raise")}
            >
              {t("settings.users.raise")}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconShield size={15} />} onClick={() => setDialog("rights")}>
            {rulesText("rules.held.open")}
          </Menu.Item>
          <Menu.Item leftSection={<IconLink size={15} />} disabled={user.disabled} onClick={() => setDialog("reset")}>
            {t("settings.users.reset")}
          </Menu.Item>
          {(user.two_factor || user.passkeys > 0) && (
            <Menu.Item leftSection={<IconShieldOff size={15} />} disabled={self} onClick={() => setDialog("factor")}>
              {t("settings.factor.reset")}
            </Menu.Item>
          )}
          {user.disabled ? (
            <Menu.Item
              leftSection={<IconCheck size={15} />}
              onClick={() => void change({ disabled: false }).catch(ignoreShown)}
            >
              {t("settings.users.enable")}
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<IconBan size={15} />} disabled={self} onClick={() => setDialog("disable")}>
              {t("settings.users.disable")}
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={15} />}
            disabled={self}
            onClick={() => setDialog("remove")}
          >
            {t("settings.remove")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <UserDialogs user={user} dialog={dialog} onClose={() => setDialog(null)} onChange={change} onLink={setLink} />
      <ResetSecondFactor user={user} opened={dialog === "factor"} onClose={() => setDialog(null)} />
      {dialog === "rights" && (
        <Suspense fallback={null}>
          <UserRights user={user} onClose={() => setDialog(null)} />
        </Suspense>
      )}
      <SecretOnce
        secret={link?.link ?? null}
        title={t("settings.users.resetLink", { email: user.email })}
        what="link"
        onClose={() => setLink(null)}
      >
        <Text fz="sm">
          <Rich text="settings.users.resetLinkHelp" values={{ time: <When at={link?.expires_at ?? null} exact /> }} />
        </Text>
      </SecretOnce>
    </>
  );
}

function standing({ email, disabled, administrator }: ConsoleUser): string {
  if (disabled) return t("settings.users.disabledNow", { email });
  return administrator ? t("settings.users.raised", { email }) : t("settings.users.lowered", { email });
}

/** The call already showed the error in a notice. */
const ignoreShown = () => undefined;

interface UserDialogsProps {
  readonly user: ConsoleUser;
  readonly dialog: UserDialog | null;
  readonly onClose: () => void;
  readonly onChange: (body: BodyInput<"users.update">) => Promise<unknown>;
  readonly onLink: (link: AnswerOf<"users.reset">) => void;
}

function UserDialogs({ user, dialog: asked, onClose, onChange, onLink }: UserDialogsProps) {
  const reset = useAct("users.reset");
  const remove = useAct("users.remove", {
    invalidates: afterUserChange,
    done: t("settings.users.removed", { email: user.email }),
  });
  const params = { user: user.id };
  const leaving = { leaver: user, workspace: "-", onClose };
  const untouched = useMemo(() => user.workspaces.map(({ id }) => id), [user.workspaces]);
  return (
    <>
      <ConfirmDialog
        opened={asked === "raise"}
        onClose={onClose}
        title={t("settings.users.raiseTitle", { email: user.email })}
        verb={t("settings.users.raise")}
        onConfirm={() => onChange({ administrator: true })}
      >
        {t("settings.users.raiseHelp")}
      </ConfirmDialog>
      <LeaverDialog
        {...leaving}
        untouched={untouched}
        opened={asked === "lower"}
        title={t("settings.users.lowerTitle", { email: user.email })}
        verb={t("settings.users.lowerVerb")}
        onConfirm={(keys) => onChange({ administrator: false, keys })}
      >
        {t("settings.users.lowerHelp")}
      </LeaverDialog>
      <LeaverDialog
        {...leaving}
        opened={asked === "disable"}
        title={t("settings.users.disableTitle", { email: user.email })}
        verb={t("settings.users.disable")}
        onConfirm={(keys) => onChange({ disabled: true, keys })}
      >
        {t("settings.users.disableHelp")}
      </LeaverDialog>
      <ConfirmDialog
        opened={asked === "reset"}
        onClose={onClose}
        title={t("settings.users.resetTitle", { email: user.email })}
        verb={t("settings.users.resetVerb")}
        onConfirm={async () => onLink(await reset.mutateAsync({ params }))}
      >
        {t("settings.users.resetHelp")}
      </ConfirmDialog>
      <LeaverDialog
        {...leaving}
        opened={asked === "remove"}
        title={t("settings.users.removeTitle", { email: user.email })}
        verb={t("settings.users.remove")}
        typed={user.email}
        onConfirm={(keys) => remove.mutateAsync({ params, body: { keys } })}
      >
        {t("settings.users.removeHelp")}
      </LeaverDialog>
    </>
  );
}
