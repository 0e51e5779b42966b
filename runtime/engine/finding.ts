/** What an exception filter looks for. */
export type FilterName = 'nan' | 'inf' | 'exploding' | 'vanishing';

/** A filter that is on; `threshold` is the norm for the gradient filters. */
export interface FilterSetting {
  filter: FilterName;
  threshold?: number;
}

/** What a filter found. */
export interface Finding {
  filter: FilterName;
  /** e.g. `NaN produced`. */
  title: string;
  /** One line: which tensor, how much, where first. */
  text: string;
  /** The same with where it comes from and what came before. */
  details: string;
}

export const TITLES: Record<FilterName, string> = {
  nan: 'NaN produced',
  inf: 'Inf produced',
  exploding: 'Exploding gradient',
  vanishing: 'Vanishing gradient',
};
