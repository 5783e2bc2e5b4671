import {
  createTheme,
  type CSSVariablesResolver,
  DEFAULT_THEME,
  type MantineColorsTuple,
} from '@mantine/core';

/** The accent colour. White text on the shades from 7 has a contrast of at least 5:1. */
const forest: MantineColorsTuple = [
  '#eefaf4',
  '#d9f2e6',
  '#b0e4cb',
  '#82d4ae',
  '#5cc696',
  '#3fb583',
  '#2b9a6c',
  '#1f7a55',
  '#185f43',
  '#104330',
];

/** The shades run from the text to the page of the dark scheme, with a little of the accent's hue. */
const dark: MantineColorsTuple = [
  '#d3dad7',
  '#b3bdb9',
  '#93a09b',
  '#62706b',
  '#3c4844',
  '#2b3633',
  '#202927',
  '#171e1c',
  '#121816',
  '#0d1211',
];

/** Warnings have this colour. Mantine's darkest shade is too light for small text on its lightest. */
const orange = DEFAULT_THEME.colors.orange.with(9, '#a33c06') as unknown as MantineColorsTuple;

/**
 * Dialogs and drawers share these properties. The role keeps their header from being the banner of the page.
 */
const DIALOG = {
  closeButtonProps: { 'aria-label': 'Close' },
  // No blur: without a GPU, a browser would blur the whole page again at each blink of the cursor.
  overlayProps: { backgroundOpacity: 0.45 },
  attributes: { header: { role: 'presentation' } },
};

export const theme = createTheme({
  primaryColor: 'forest',
  primaryShade: 7,
  colors: { forest, dark, orange },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace",
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.25' },
      h2: { fontSize: '1rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.4' },
    },
  },
  components: {
    Alert: { defaultProps: { variant: 'outline', radius: 'lg' } },
    Badge: { defaultProps: { tt: 'none', fw: 550 } },
    Anchor: { defaultProps: { underline: 'always' } },
    Tooltip: {
      defaultProps: {
        withArrow: true,
        openDelay: 200,
        events: { hover: true, focus: true, touch: true },
        // The pointer may move over it, as WCAG 1.4.13 requires.
        interactive: true,
      },
    },
    Modal: {
      defaultProps: {
        ...DIALOG,
        centered: true,
        radius: 'lg',
      },
    },
    Drawer: { defaultProps: DIALOG },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Table: { defaultProps: { verticalSpacing: 'sm', horizontalSpacing: 'sm' } },
  },
});

/**
 * Mantine darkens the darkest shade to half for what is selected and for badges, which a panel of the dark
 * scheme then hides.
 */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {},
  dark: {
    '--mantine-color-forest-light': 'var(--mantine-color-forest-9)',
    '--mantine-color-forest-light-hover': 'var(--mantine-color-forest-8)',
  },
});
