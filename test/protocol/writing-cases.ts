/** Keys of the company fixture, and error codes of answers to saves. */

export const EMPLOYEES = ['1', '2', '3', '4', '5', '6']
export const CITIES = ["L'Aquila", 'New York (NY)', 'Paris', '東京']
