import { Avatar, Menu, SegmentedControl, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { IconBook, IconLogout, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useSession } from "../session/session-context.tsx";
import { useSignOut } from "../session/use-sign-out.ts";

const schemes = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "Auto" },
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
          <span className="unseen">Account of {user.name}</span>
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
              Administrator
            </Text>
          )}
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconUser size={15} />} renderRoot={(props) => <Link to="/profile" {...props} />}>
          Profile and sign-in
        </Menu.Item>
        <Menu.Item leftSection={<IconBook size={15} />} component="a" href="/docs" target="_blank" rel="noreferrer">
          API reference
        </Menu.Item>
        <div className="user-scheme">
          <SegmentedControl
            fullWidth
            aria-label="Colours"
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
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
