import { Avatar, Menu, SegmentedControl, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { IconBook, IconLogout, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { t } from "../language/areas/shell.ts";
import { useSession } from "../session/session-context.tsx";
import { useSignOut } from "../session/use-sign-out.ts";

const schemes = [
  { value: "light", label: t("shell.light") },
  { value: "dark", label: t("shell.dark") },
  { value: "auto", label: t("shell.auto") },
] as const;

export function UserMenu() {
  const { user } = useSession();
  const signOut = useSignOut();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu width={240}>
      <Menu.Target>
        <UnstyledButton className="user-button">
          <Avatar size={28} radius="xl" name={user.name} color="cyan" variant="light" />
          <span className="unseen">{t("shell.accountOf", { name: user.name })}</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className="user-words">
          <Text size="sm" fw={600} truncate>
            {user.name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {user.email}
          </Text>
          {user.administrator && (
            <Text size="xs" c="dimmed">
              {t("shell.administrator")}
            </Text>
          )}
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconUser size={15} />} renderRoot={(props) => <Link to="/profile" {...props} />}>
          {t("shell.profileAndSignIn")}
        </Menu.Item>
        <Menu.Item leftSection={<IconBook size={15} />} component="a" href="/docs" target="_blank" rel="noreferrer">
          {t("shell.apiReference")}
        </Menu.Item>
        <div className="user-scheme">
          <SegmentedControl
            fullWidth
            aria-label={t("shell.colours")}
            data={[...schemes]}
            value={colorScheme}
            onChange={(scheme) => {
              const chosen = schemes.find((each) => each.value === scheme);
              if (chosen !== undefined) setColorScheme(chosen.value);
            }}
          />
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => void signOut()}>
          {t("shell.signOut")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
