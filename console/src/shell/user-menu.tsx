import { Avatar, Menu, SegmentedControl, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { IconBook, IconGauge, IconLogout, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { t as words } from "../language/areas/language.ts";
import { t } from "../language/areas/shell.ts";
import { isLanguage, language, languages } from "../language/index.ts";
import { useSession } from "../session/session-context.tsx";
import { useChooseLanguage } from "../session/use-language.ts";
import { useSignOut } from "../session/use-sign-out.ts";

const schemes = [
  { value: "light", label: t("shell.scheme.light") },
  { value: "dark", label: t("shell.scheme.dark") },
  { value: "auto", label: t("shell.scheme.auto") },
] as const;

export function UserMenu() {
  const { user } = useSession();
  const signOut = useSignOut();
  const { choose, isPending } = useChooseLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu width={240}>
      <Menu.Target>
        <UnstyledButton className="user-button">
          <Avatar size={28} radius="xl" name={user.name} color="cyan" variant="light" />
          <span className="unseen">{t("shell.user.account", { name: user.name })}</span>
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
              {t("shell.user.administrator")}
            </Text>
          )}
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconGauge size={15} />} renderRoot={(props) => <Link to="/my-usage" {...props} />}>
          {t("shell.pages.ownUsage")}
        </Menu.Item>
        <Menu.Item leftSection={<IconUser size={15} />} renderRoot={(props) => <Link to="/profile" {...props} />}>
          {t("shell.pages.profile")}
        </Menu.Item>
        <Menu.Item leftSection={<IconBook size={15} />} component="a" href="/docs" target="_blank" rel="noreferrer">
          {t("shell.pages.reference")}
        </Menu.Item>
        <div className="user-scheme">
          <SegmentedControl
            fullWidth
            aria-label={t("shell.scheme.label")}
            data={[...schemes]}
            value={colorScheme}
            onChange={(scheme) => {
              const chosen = schemes.find((each) => each.value === scheme);
              if (chosen !== undefined) setColorScheme(chosen.value);
            }}
          />
          <SegmentedControl
            fullWidth
            mt={6}
            aria-label={words("language.label")}
            data={languages.map(({ id, name }) => ({ value: id, label: name }))}
            value={language}
            disabled={isPending}
            onChange={(id) => {
              if (isLanguage(id)) void choose(id);
            }}
          />
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => void signOut()}>
          {t("shell.user.signOut")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
