// Shows the colour scheme that was chosen in the console, else that of the browser, from the first paint on.
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const chosen = () => {
    try {
      return localStorage.getItem('mantine-color-scheme-value');
    } catch {
      return null;
    }
  };
  const show = () => {
    const scheme = /^(light|dark)$/.exec(chosen())?.[0] ?? (dark.matches ? 'dark' : 'light');
    document.documentElement.dataset.mantineColorScheme = scheme;
    document.documentElement.classList.toggle('dark-mode', scheme === 'dark');
  };
  dark.addEventListener('change', show);
  show();
})();
