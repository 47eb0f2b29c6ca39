import { ActionIcon, Menu, Stack, Text } from "@mantine/core";
import type { AnswerOf, BodyInput, ConsoleUser, LeaverKeys } from "@sluice/contract";
import {
  IconBan,
  IconCheck,
  IconDots,
  IconLink,
  IconShieldDown,
  IconShieldOff,
  IconShieldUp,
  IconTrash,
} from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmDialog } from "../../components/confirm-button.tsx";
import { When } from "../../components/figures.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { useSession } from "../../session/session-context.tsx";
import { LeaverKeysChoice } from "../people/leaver-keys.tsx";
import { ResetSecondFactor } from "./reset-second-factor.tsx";

type Asked = "raise" | "lower" | "disable" | "reset" | "factor" | "remove";

/** What an administrator may do with somebody. Oneself is left alone: nobody locks themselves out by a slip. */
export function UserActions({ user }: { readonly user: ConsoleUser }) {
  const { user: me } = useSession();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [link, setLink] = useState<AnswerOf<"users.reset"> | null>(null);
  const update = useAct("users.update", { invalidates: ["users.list"], done: standing });
  const self = user.id === me.id;
  const change = (body: BodyInput<"users.update">) => update.mutateAsync({ params: { user: user.id }, body });
  return (
    <>
      <Menu width={250}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${user.email}`} className="above-row">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {self && (
            <Text fz="xs" c="dimmed" px="sm" py={4}>
              This is you. Another administrator can change what you may do.
            </Text>
          )}
          {user.administrator ? (
            <Menu.Item leftSection={<IconShieldDown size={15} />} disabled={self} onClick={() => setAsked("lower")}>
              Take administration away
            </Menu.Item>
          ) : (
            <Menu.Item
              leftSection={<IconShieldUp size={15} />}
              disabled={user.disabled}
              onClick={() => setAsked("raise")}
            >
              Make administrator
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconLink size={15} />} disabled={user.disabled} onClick={() => setAsked("reset")}>
            Make a password reset link
          </Menu.Item>
          {(user.two_factor || user.passkeys > 0) && (
            <Menu.Item leftSection={<IconShieldOff size={15} />} disabled={self} onClick={() => setAsked("factor")}>
              Reset second factor
            </Menu.Item>
          )}
          {user.disabled ? (
            <Menu.Item
              leftSection={<IconCheck size={15} />}
              onClick={() => void change({ disabled: false }).catch(said)}
            >
              Enable
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<IconBan size={15} />} disabled={self} onClick={() => setAsked("disable")}>
              Disable
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={15} />}
            disabled={self}
            onClick={() => setAsked("remove")}
          >
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <UserDialogs user={user} asked={asked} onClose={() => setAsked(null)} onChange={change} onLink={setLink} />
      <ResetSecondFactor user={user} opened={asked === "factor"} onClose={() => setAsked(null)} />
      <SecretOnce
        secret={link?.link ?? null}
        title={`Reset link for ${user.email}`}
        what="link"
        onClose={() => setLink(null)}
      >
        <Text fz="sm">
          Hand it to them where nobody else reads it. It works once, until <When at={link?.expires_at ?? null} exact />.
        </Text>
      </SecretOnce>
    </>
  );
}

function standing({ email, disabled, administrator }: ConsoleUser): string {
  if (disabled) return `${email} can no longer sign in.`;
  return administrator ? `${email} is an administrator now.` : `${email} may sign in, and is no administrator.`;
}

/** The call has told what went wrong in a notice of its own. */
const said = () => undefined;

interface UserDialogsProps {
  readonly user: ConsoleUser;
  readonly asked: Asked | null;
  readonly onClose: () => void;
  readonly onChange: (body: BodyInput<"users.update">) => Promise<unknown>;
  readonly onLink: (link: AnswerOf<"users.reset">) => void;
}

function UserDialogs({ user, asked, onClose, onChange, onLink }: UserDialogsProps) {
  const reset = useAct("users.reset");
  const remove = useAct("users.remove", { invalidates: ["users.list"], done: `${user.email} removed.` });
  const params = { user: user.id };
  const [keys, setKeys] = useState<LeaverKeys | undefined>(undefined);
  const decided = keys === undefined ? {} : { keys };
  const choice = <LeaverKeysChoice leaver={user} workspace="-" onChoice={setKeys} />;
  return (
    <>
      <ConfirmDialog
        opened={asked === "raise"}
        onClose={onClose}
        title={`Make ${user.email} an administrator?`}
        verb="Make administrator"
        onConfirm={() => onChange({ administrator: true })}
      >
        They get every workspace with every role, the providers and their money, these settings, and all users. They are
        signed out and sign in again.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === "lower"}
        onClose={onClose}
        title={`Take administration from ${user.email}?`}
        verb="Take it away"
        onConfirm={() => onChange({ administrator: false })}
      >
        They keep the roles that they have in workspaces. They are signed out, and their administrator's tokens lose
        what they lose. API keys of theirs in workspaces that they are no member of have to be revoked first, or they
        are made members there.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === "disable"}
        onClose={onClose}
        title={`Disable ${user.email}?`}
        verb="Disable"
        onConfirm={() => onChange({ disabled: true, ...decided })}
      >
        <Stack gap="sm">
          They are signed out at once, cannot sign in, and their admin tokens stop. They can be enabled again.
          {choice}
        </Stack>
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === "reset"}
        onClose={onClose}
        title={`Reset the password of ${user.email}?`}
        verb="Make link"
        onConfirm={async () => onLink(await reset.mutateAsync({ params }))}
      >
        You get a link that sets a new password once. The present password holds until then; a second factor stays.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === "remove"}
        onClose={onClose}
        title={`Remove ${user.email}?`}
        verb="Remove user"
        typed={user.email}
        onConfirm={() => remove.mutateAsync({ params, body: decided })}
      >
        <Stack gap="sm">
          They go from every workspace, with their password, passkeys, sessions, admin tokens and open invitations. This
          cannot be taken back.
          {choice}
        </Stack>
      </ConfirmDialog>
    </>
  );
}
