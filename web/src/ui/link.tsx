// Mantine's links and buttons as links of the router: an address that is not there does not compile.
import { Anchor, Button, NavLink, type AnchorProps, type ButtonProps, type NavLinkProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";

type Rest<P> = P & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof P> & { ref?: Ref<HTMLAnchorElement> };

export const TextLink = createLink((props: Rest<AnchorProps>) => <Anchor {...props} />);
export const ButtonLink = createLink((props: Rest<ButtonProps>) => <Button component="a" {...props} />);
export const NavItem = createLink((props: Rest<NavLinkProps>) => <NavLink component="a" {...props} />);
