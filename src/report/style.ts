/**
 * Colours by meaning. There is no global state: a renderer gets the style of the place its text is for.
 */

/** Wraps text into the codes of a colour, or leaves it alone. */
export type Paint = (text: string) => string;

/** What text can mean. */
export interface Style {
  /** Headings and the one thing to see first. */
  readonly title: Paint;
  /** Names the eye searches for: operators, checkpoints. */
  readonly name: Paint;
  /** What matters less: units, exact numbers, notes. */
  readonly muted: Paint;
  /** All is well. */
  readonly good: Paint;
  /** Worth a look. */
  readonly warning: Paint;
  /** Wrong, missing, about to go. */
  readonly bad: Paint;
}

const same: Paint = (text) => text;

/** The style without any colour. */
export const plainStyle: Style = {
  title: same,
  name: same,
  muted: same,
  good: same,
  warning: same,
  bad: same,
};

/** The style to use; chalk is loaded only if there is a colour to make. */
export async function loadStyle(options: { readonly color: boolean }): Promise<Style> {
  if (!options.color) return plainStyle;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return {
    title: chalk.bold,
    name: chalk.cyan,
    muted: chalk.dim,
    good: chalk.green,
    warning: chalk.yellow,
    bad: chalk.red,
  };
}
