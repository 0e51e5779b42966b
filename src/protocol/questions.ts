/**
 * Questions that the adapter asks the person through its client: a custom event that the client answers with a
 * custom request. Only sent when the adapter was started with `--questions`.
 */
export const QUESTION_EVENT = 'scanpoint/question';
export const ANSWER_REQUEST = 'scanpoint/answer';

export interface Question {
  id: number;
  text: string;
  /** What can be answered; closing the dialog answers none of them. */
  choices: string[];
}

export interface Answer {
  id: number;
  /** One of the choices; absent when the person chose none. */
  choice?: string;
}
